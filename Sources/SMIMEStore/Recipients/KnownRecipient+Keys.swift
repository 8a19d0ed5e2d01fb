extension KnownRecipient {
    /// This recipient with another trust.
    func with(_ trust: Trust) -> KnownRecipient {
        guard trust != self.trust else { return self }
        var recipient = KnownRecipient(
            address: address,
            certificate: certificate,
            source: source,
            sourceDetail: sourceDetail,
            firstSeen: firstSeen,
            lastSeen: lastSeen,
            trust: trust,
            capabilities: capabilities,
            capabilitiesTime: capabilitiesTime,
            rank: rank
        )
        recipient.record = record
        return recipient
    }
}

extension Array where Element: SelectableRecipient {
    /// The recipients of one address and its domain, with users' decisions applied to keys: if a key was distrusted, all
    /// its certificates are distrusted; if a key was pinned for an address or domain, all its certificates for that address
    /// or domain are pinned. If both apply, the certificates are distrusted.
    var decidedByKey: [Element] {
        guard contains(where: { $0.trust != .chain }) else { return self }
        let distrusted = Set(filter { $0.trust == .distrusted }.map(\.key))
        let pinned = Dictionary(grouping: filter { $0.trust == .pinned }, by: \.key)
        return map { recipient in
            if distrusted.contains(recipient.key) { return recipient.with(.distrusted) }
            let isPinned = pinned[recipient.key]?.contains { $0.address == recipient.address } ?? false
            return isPinned ? recipient.with(.pinned) : recipient
        }
    }
}
