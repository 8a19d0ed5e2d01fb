extension KnownRecipient {
    /// The same with another trust.
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
    /// The same, all of one address or its domain, with decisions made by hand going by key: a certificate whose key was distrusted
    /// is distrusted, and one whose key was pinned for the same address or domain is pinned. If both apply, distrust counts.
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
