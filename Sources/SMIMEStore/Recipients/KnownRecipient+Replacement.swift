import PKIX

extension KnownRecipient {
    /// Whether `certificate` has the key and the issuer of this recipient's certificate.
    func isRenewed(by certificate: Certificate) -> Bool {
        self.certificate.publicKeyDigest == certificate.publicKeyDigest
            && self.certificate.issuer.matches(certificate.issuer)
    }
}

extension [KnownRecipient] {
    /// The recipients of one address and its domain after `decidedByKey`. Certificates from other sources than the
    /// registry are held if their key is held in the registry, or if a user pinned another key for the same use. They are
    /// not held if they have the key and the issuer of a trusted certificate in the registry. The rule is like that for
    /// learned certificates: a source with another certificate does not end what a user has decided or must decide.
    ///
    /// The pin of an address also holds certificates for its domain, but not the other way around: an address may have a
    /// certificate of its own in addition to that of its domain.
    var holdingReplacements: [KnownRecipient] {
        let registered = filter { $0.rank == 0 }
        let held = Set(registered.filter { $0.trust == .held }.map(\.key))
        let pinned = registered.filter { $0.trust == .pinned }
        guard !held.isEmpty || !pinned.isEmpty else { return self }
        return map { recipient in
            guard recipient.rank > 0, recipient.trust == .chain else { return recipient }
            let certificate = recipient.certificate
            guard !registered.contains(where: { $0.isAccepted && $0.isRenewed(by: certificate) }) else {
                return recipient
            }
            let replacesPin = pinned.contains {
                (!$0.address.isDomain || $0.address == recipient.address) && $0.certificate.sharesUse(with: certificate)
                    && $0.key != recipient.key
            }
            return replacesPin || held.contains(recipient.key) ? recipient.with(.held) : recipient
        }
    }
}
