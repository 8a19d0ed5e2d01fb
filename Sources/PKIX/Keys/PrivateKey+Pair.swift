import LibCrypto

extension PrivateKey {
    /// Rejects a key pair whose halves do not match: its signatures could not be verified.
    ///
    /// - Throws: `CMSError.malformed`
    func checkPair() throws(CMSError) {
        guard isPair else { throw .malformed(.privateKey, "its private half does not belong to its public one") }
    }

    private var isPair: Bool {
        switch algorithm {
        case .rsa: signsRight(.rsaPKCS1, .sha256)
        case .rsaPSS:
            // A key restricted to parameters that we do not know, or too short a key, is not used for signing.
            (try? PSSParameters.restriction(publicKeyInfo)?.digest ?? .sha256).flatMap { digest in
                (try? PSSParameters(signing: digest, publicKeyInfo: publicKeyInfo)).map {
                    signsRight(.rsaPSS(saltLength: $0.saltLength, mgf: $0.mgf), digest)
                }
            } ?? true
        case .ellipticCurve, .dsa: handle.isPair()
        // The public half was computed from the private one.
        case .ed25519, .postQuantum, .other, .x25519: true
        }
    }

    /// Whether a signature by the key verifies. libcrypto's own check tests for primes, which takes seconds for large keys.
    private func signsRight(_ scheme: SignatureAlgorithm.Scheme, _ digest: DigestAlgorithm) -> Bool {
        guard let value = try? digest.digest([]),
            let signature = try? handle.sign(value, digest: digest, padding: scheme.padding)
        else { return false }
        return handle.verify(signature, of: value, digest: digest, padding: scheme.padding)
    }
}
