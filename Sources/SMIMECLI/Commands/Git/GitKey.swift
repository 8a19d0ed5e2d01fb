import InternetMessage
import LibCrypto
import PKIX
import SMIMEAgent
import SMIMEStore

/// The key that git names: the value of user.signingKey, or else the committer's name and address.
struct GitKey {
    let text: String

    /// The signer that the key's name selects.
    ///
    /// - Throws: `Failure` with status 67 if no certificate has the fingerprint; with 64 if several have it, or if the
    ///   text is neither one address nor a fingerprint.
    func selection(in store: Store) async throws -> SignerSelection {
        if text.contains("@"), let list = try? AddressList(text), let address = list.addresses.first {
            guard list.addresses.count == 1 else { throw Failure(.usage, "\(text): more than one address") }
            return SignerSelection(account: address)
        }
        let prefix = ["sha256:", "0x"].first { text.hasPrefix($0) } ?? ""
        let digits = String(text.dropFirst(prefix.count).filter { $0 != ":" && $0 != "!" })
        guard let prefix = FingerprintPrefix(digits) else {
            throw Failure(
                .usage,
                "\(text): neither an address nor a fingerprint",
                hints: ["git config user.signingKey alice@example.org"]
            )
        }
        let certificates = try await store.accounts.all().flatMap(\.identities).map(\.certificate)
        let found = Set(certificates.filter { $0.isNamed(prefix) }.map(\.fingerprint))
        guard let fingerprint = found.first else {
            throw Failure(.noUser, "\(text): no such certificate with a private key here", hints: ["see smime list"])
        }
        guard found.count == 1 else { throw Failure(.usage, "\(text): \(found.count) certificates match") }
        return SignerSelection(identity: fingerprint)
    }
}

extension Certificate {
    /// The SHA-1 fingerprint in gpgsm's notation, by which git and other programs name the certificate. It is not proof of
    /// the certificate's identity.
    var shortFingerprint: String {
        ((try? DigestAlgorithm.sha1.digest(der)) ?? fingerprint.bytes).hexadecimal.uppercased()
    }

    /// Whether the SHA-256 or SHA-1 fingerprint starts with `prefix`, or the SHA-1 fingerprint ends with it, as a key ID
    /// does.
    fileprivate func isNamed(_ prefix: FingerprintPrefix) -> Bool {
        let short = shortFingerprint.lowercased()
        return fingerprint.hexadecimal.hasPrefix(prefix.digits) || short.hasPrefix(prefix.digits)
            || short.hasSuffix(prefix.digits)
    }
}
