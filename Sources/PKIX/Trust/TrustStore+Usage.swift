extension TrustStore {
    /// What certificates must be meant for.
    public enum Usage: Hashable, Sendable {
        /// Anything: extended key usage is not looked at.
        case any
        /// The extended key usage with this dotted object identifier, as `1.3.6.1.5.5.7.3.3` for code (RFC 5280 §4.2.1.12).
        case extendedKeyUsage(String)
        /// Mail (RFC 8550 §4.4.4).
        case mail
    }
}

extension Certificate {
    /// Whether the certificate is meant for `usage`: it says so, or anyExtendedKeyUsage, or has no such extension.
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
