import LibCrypto

extension PrivateKey {
    /// Rejects a key whose private and public parts do not belong together: no certificate would verify its signatures.
    ///
    /// - Throws: `CMSError.malformed`
    func checkPair() throws(CMSError) {
        guard isPair else { throw .malformed(.privateKey, "its private half does not belong to its public one") }
    }

    private var isPair: Bool {
        switch algorithm {
        case .rsa: signsRight(.rsaPKCS1, .sha256)
        case .rsaPSS:
            // A key that is too short, or restricted to unknown parameters, cannot be used for signing.
            (try? PSSParameters.restriction(publicKeyInfo)?.digest ?? .sha256).flatMap { digest in
                (try? PSSParameters(signing: digest, publicKeyInfo: publicKeyInfo)).map {
                    signsRight(.rsaPSS(saltLength: $0.saltLength, mgf: $0.mgf), digest)
                }
            } ?? true
        case .ellipticCurve, .dsa: handle.isPair()
        // libcrypto computed the public key from the private key, so the two always match.
        case .ed25519, .postQuantum, .other, .x25519: true
        }
    }

    /// Whether a trial signature by the key can be verified. libcrypto's own check includes primality tests, which take
    /// seconds for large keys.
    private func signsRight(_ scheme: SignatureAlgorithm.Scheme, _ digest: DigestAlgorithm) -> Bool {
        guard let value = try? digest.digest([]),
            let signature = try? handle.sign(value, digest: digest, padding: scheme.padding)
        else { return false }
        return handle.verify(signature, of: value, digest: digest, padding: scheme.padding)
    }
}
