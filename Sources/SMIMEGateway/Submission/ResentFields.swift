import InternetMessage

/// The Resent fields of the latest resending. Those of earlier ones, which are below, do not determine the current
/// recipients.
///
/// RFC 5322 §3.6.6
struct ResentFields {
    private let fields: [HeaderField]

    /// Takes the first contiguous block of Resent fields: a resending adds all its fields together, above the others.
    init(_ header: HeaderBlock) {
        func isResent(_ field: HeaderField) -> Bool { field.name.lowercased().hasPrefix("resent-") }
        var seen: Set<String> = []
        // A resending has each field only once, so a repeated field begins the block of an earlier one.
        fields = Array(
            header.fields.drop { !isResent($0) }
                .prefix { isResent($0) && seen.insert($0.name.lowercased()).inserted }
        )
    }

    /// Whether the message was not resent.
    var isEmpty: Bool { fields.isEmpty }

    func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }
}
