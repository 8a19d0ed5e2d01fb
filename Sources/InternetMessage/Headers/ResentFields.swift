/// The Resent fields of the latest resending. Those of earlier ones, which are below, do not determine the current
/// recipients.
///
/// RFC 5322 §3.6.6
package struct ResentFields {
    private let fields: [HeaderField]

    /// Takes the first contiguous block of Resent fields: a resending adds all its fields together, above the others.
    package init(_ header: HeaderBlock) {
        func isResent(_ field: HeaderField) -> Bool { field.name.lowercased().hasPrefix("resent-") }
        var seen: Set<String> = []
        // A resending has each field only once, so a repeated field begins the block of an earlier one.
        fields = Array(
            header.fields.drop { !isResent($0) }
                .prefix { isResent($0) && seen.insert($0.name.lowercased()).inserted }
        )
    }

    /// Whether the message was not resent.
    package var isEmpty: Bool { fields.isEmpty }

    /// The fields of the resending called `name`, ignoring case.
    package func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }
}

extension HeaderBlock {
    /// The fields with the recipients whom all can see: To and Cc, or those of the latest resending.
    package var visibleRecipientFields: [HeaderField] { recipientFields(["To", "Cc"]) }

    /// The fields with the recipients whom the others must not see: Bcc, or that of the latest resending.
    package var hiddenRecipientFields: [HeaderField] { recipientFields(["Bcc"]) }

    private func recipientFields(_ names: [String]) -> [HeaderField] {
        let resent = ResentFields(self)
        return names.flatMap { resent.isEmpty ? all($0) : resent.all("Resent-\($0)") }
    }
}
