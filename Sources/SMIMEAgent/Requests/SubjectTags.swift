import Foundation
package import InternetMessage
import PKIX
package import SMIME
import SMIMEStore

/// Words in brackets that senders write into the subject to say how their mail is to be protected.
///
/// RFC 5322 §3.6.5, RFC 2047
package struct SubjectTags: Hashable, Sendable {
    /// The request of each tag. The tags are in lower case and without brackets.
    private let meanings: [String: ProtectionRequest]

    /// `[encrypt]` and `[sign]`, which require encryption and signing.
    package static let standard = SubjectTags(["encrypt": "encrypt=require", "sign": "sign=require"])

    private init(_ meanings: [String: String]) { self.meanings = meanings.mapValues { ProtectionRequest(parsing: $0) } }

    /// Reads `[encrypt] encrypt=require [open] encrypt=never; sign=never`: tags, each followed by its request.
    ///
    /// An empty text means that there are no tags. Returns nil if the text contains anything else, or a tag without a
    /// request.
    package init?(parsing text: String) {
        guard let read = Self.recent.value(for: text, { Self.read(text) }) else { return nil }
        self = read
    }

    /// Recently parsed texts: a server reads the same setting for every message.
    private static let recent = BoundedCache<String, SubjectTags?>(capacity: 8)

    private static func read(_ text: String) -> SubjectTags? {
        var meanings: [String: String] = [:]
        for piece in text.split(separator: "[", omittingEmptySubsequences: false).enumerated() {
            let isBlank = piece.element.allSatisfy(\.isWhitespace)
            if piece.offset == 0, isBlank { continue }
            let sides = piece.element.split(separator: "]", omittingEmptySubsequences: false)
            guard piece.offset > 0, sides.count == 2 else { return nil }
            let tag = Self.name(String(sides[0]))
            let meaning = String(sides[1])
            guard !tag.isEmpty, tag.count <= Self.maximumCount,
                ProtectionRequest(parsing: meaning) != ProtectionRequest(),
                ProtectionRequest.unread(in: meaning).isEmpty
            else { return nil }
            meanings[tag] = String(sides[1])
        }
        return SubjectTags(meanings)
    }

    /// The request of the tags in the Subject `field`, and the field without the tags; nil if there are no tags.
    ///
    /// A tag that requires protection is effective everywhere. A tag that lowers protection is effective only as the first
    /// word of the subject, followed by a blank or nothing. Elsewhere it may be a correspondent's, as in `Re: [open] Plans`,
    /// and is not removed.
    ///
    /// - Parameter mayLower: whether a tag may lower protection at all.
    /// - Throws: `MessageError.malformed` for an extremely long subject, in which a tag could be hidden, and for a subject
    ///   with a tag that cannot be removed because of its characters or its encoding.
    package func read(
        _ field: HeaderField,
        lineEnd: LineEnd,
        mayLower: Bool = true
    ) throws(MessageError) -> (request: ProtectionRequest, field: [UInt8])? {
        guard field.rawBytes.count <= Self.maximumSubject else {
            throw MessageError.malformed("the subject is too long")
        }
        var request = ProtectionRequest()
        // Plain tags are removed from the field's text; tags in encoded words are removed from the decoded text.
        var text = remove(from: field.value, isEncoded: true, mayLower: mayLower, &request)
        let isFirstTaken = text != field.value
        let shown = EncodedWord.decode(text).trimmingCharacters(in: .whitespaces)
        let rest = remove(from: shown, isEncoded: false, mayLower: mayLower && !isFirstTaken, &request)
        // A tag that cannot be removed exactly must not be overlooked.
        for guessed in [EncodedWord.decode(rest, undecodable: .readAsUTF8), EncodedWord.decodeAssumingASCII(rest)] {
            guard !hasTag(Self.readable(guessed)) else {
                throw MessageError.malformed(
                    "the subject has a tag that cannot be removed, because of its characters or its encoding"
                )
            }
        }
        guard text != field.value || rest != shown else { return nil }
        if rest != shown { text = EncodedWord.encode(rest) }
        return (request, NewField(field.name, value: text).bytes(lineEnd: lineEnd))
    }

    private func hasTag(_ text: String) -> Bool {
        var ignored = ProtectionRequest()
        return remove(from: text, isEncoded: false, mayLower: false, &ignored) != text
    }

    /// `text` as people read it: with plain brackets in place of full-width ones, and without invisible characters.
    private static func readable(_ text: String) -> String {
        let seen = text.compatiblyComposed.unicodeScalars.filter { $0 == " " || !$0.isUnsafeToDisplay }
        return String(String.UnicodeScalarView(seen))
    }

    /// The longest subject that is read, in bytes.
    package static let maximumSubject = 64 * 1024
    /// The longest tag, in characters.
    private static let maximumCount = 64

    private static func name(_ text: String) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }

    /// Whether the last word of `text` begins like an encoded word.
    private static func endsInWord(_ text: String) -> Bool {
        // Encoded words are shorter than this limit. Without the limit, a long text full of tags would be searched again for
        // each tag.
        text.suffix(512).split(separator: " ", omittingEmptySubsequences: false).last?.hasPrefix("=?") == true
    }

    /// The part of `meaning` that is effective; nil if no part is.
    private static func effective(_ meaning: ProtectionRequest, mayLower: Bool) -> ProtectionRequest? {
        guard meaning.lowersProtection, !mayLower else { return meaning }
        let rest = meaning.withoutLowering
        return rest == ProtectionRequest() ? nil : rest
    }

    /// Whether a word ends where `rest` begins.
    private static func endsWord(_ rest: Substring.UnicodeScalarView) -> Bool {
        rest.first?.properties.isWhitespace ?? true
    }

    /// Removes the tags and the blanks after them from `text`, and merges the tags' requests into `request`. If `isEncoded`,
    /// tags inside encoded words are kept. A tag is also found if a combining mark follows a bracket.
    private func remove(
        from text: String,
        isEncoded: Bool,
        mayLower: Bool,
        _ request: inout ProtectionRequest
    ) -> String {
        var output = ""
        var rest = text.unicodeScalars[...]
        let first = rest.firstIndex { !$0.properties.isWhitespace }
        while let open = rest.firstIndex(of: "[") {
            output.unicodeScalars += rest[..<open]
            rest = rest[open...]
            let inner = rest.dropFirst().prefix(4 * Self.maximumCount).prefix { $0 != "]" && $0 != "[" }
            let end = inner.endIndex
            if end < rest.endIndex, rest[end] == "]", let meaning = meanings[Self.name(String(inner))],
                !isEncoded || !Self.endsInWord(output),
                let effective = Self.effective(
                    meaning,
                    mayLower: mayLower && rest.startIndex == first && Self.endsWord(rest[end...].dropFirst())
                )
            {
                request = request.merging(effective)
                rest = rest[rest.index(after: end)...].drop { $0 == " " || $0 == "\t" }
            } else {
                output += "["
                rest = rest.dropFirst()
            }
        }
        output.unicodeScalars += rest
        return output
    }
}

extension SubjectTags: CustomStringConvertible {
    /// The tags in the form that `init(parsing:)` reads.
    package var description: String {
        meanings.sorted { $0.key < $1.key }.map { tag, request in
            let says = [("sign", request.sign), ("encrypt", request.encrypt)].compactMap { name, level in
                level.map { "\(name)=\($0.rawValue)" }
            }
            return "[\(tag)] " + says.joined(separator: "; ")
        }.joined(separator: " ")
    }
}
