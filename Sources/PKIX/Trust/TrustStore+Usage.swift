extension TrustStore {
    /// The purpose that certificates must have.
    @nonexhaustive
    public enum Usage: Hashable, Sendable {
        /// Any purpose: the extended key usage is ignored.
        case any
        /// The purpose with this dotted OID in the extended key usage, such as `1.3.6.1.5.5.7.3.3` for code signing (RFC 5280
        /// §4.2.1.12).
        case extendedKeyUsage(String)
        /// Mail (RFC 8550 §4.4.4).
        case mail
    }
}

extension Certificate {
    /// Whether the certificate allows `usage`: its extended key usage contains that usage or anyExtendedKeyUsage, or is
    /// absent.
    func admits(_ usage: TrustStore.Usage) -> Bool {
        switch usage {
        case .any: return true
        case .mail: return isForMail
        case .extendedKeyUsage(let identifier):
            guard let extendedKeyUsages else { return true }
            return extendedKeyUsages.contains(identifier) || extendedKeyUsages.contains("2.5.29.37.0")
        }
    }
}
