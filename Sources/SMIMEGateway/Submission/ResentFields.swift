import InternetMessage

/// The fields of the latest resending of a message; those of earlier ones, which stand below, say nothing about where it goes now.
///
/// RFC 5322 §3.6.6
struct ResentFields {
    private let fields: [HeaderField]

    init(_ header: HeaderBlock) {
        var seen: Set<String> = []
        var latest: [HeaderField] = []
        for field in header.fields where field.name.lowercased().hasPrefix("resent-") {
            // No resending has a field twice.
            guard seen.insert(field.name.lowercased()).inserted else { break }
            latest.append(field)
        }
        fields = latest
    }

    /// Whether the message was not resent.
    var isEmpty: Bool { fields.isEmpty }

    func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }
}
