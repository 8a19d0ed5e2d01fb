extension TrustStore {
    /// The purpose that certificates must have.
    public enum Usage: Hashable, Sendable {
        /// Any purpose: the extended key usage is ignored.
        case any
        /// The extended key usage with this dotted OID, such as `1.3.6.1.5.5.7.3.3` for code signing (RFC 5280 §4.2.1.12).
        case extendedKeyUsage(String)
        /// Mail (RFC 8550 §4.4.4).
        case mail
    }
}

extension Certificate {
    /// Whether the certificate allows `usage`: it contains that usage or anyExtendedKeyUsage, or has no such extension.
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
