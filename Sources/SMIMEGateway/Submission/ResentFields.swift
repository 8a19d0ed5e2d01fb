import InternetMessage

/// The fields of the latest resending of a message; those of earlier ones, which stand below, say nothing about where it goes now.
///
/// RFC 5322 §3.6.6
struct ResentFields {
    private let fields: [HeaderField]

    /// Takes the first unbroken run of Resent fields: a resending writes its fields together, and above all others.
    init(_ header: HeaderBlock) {
        func isResent(_ field: HeaderField) -> Bool { field.name.lowercased().hasPrefix("resent-") }
        var seen: Set<String> = []
        // No resending has a field twice, so that a repeated one begins an earlier resending.
        fields = Array(
            header.fields.drop { !isResent($0) }
                .prefix { isResent($0) && seen.insert($0.name.lowercased()).inserted }
        )
    }

    /// Whether the message was not resent.
    var isEmpty: Bool { fields.isEmpty }

    func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }
}
