import ByteStreams

/// A text that equals only a text of the same bytes.
///
/// Swift considers canonically equivalent strings equal, such as K (U+004B) and the Kelvin sign (U+212A). For a mail server
/// these are different mailboxes.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: Self, other: Self) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    package func hash(into hasher: inout Hasher) { hasher.combine(utf8Of: text) }
}

extension Sequence<String> {
    /// Each text once, in the same order. Texts of different bytes are different.
    package var exactlyUnique: [String] {
        var seen: Set<ExactText> = []
        return filter { seen.insert(ExactText($0)).inserted }
    }
}
