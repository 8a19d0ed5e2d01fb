import CMSSyntax
import InternetMessage
import PKIX

/// Checks whether what is signed in a mail was meant as mail.
///
/// A signature does not say what it was made for. What someone signed for another purpose, such as a commit, a receipt
/// (RFC 2634 §2) or the messages of a TLS handshake (RFC 5246 §7.4.8), could be presented as a mail by that person.
struct SignedPurpose {
    /// What speaks against mail; empty if nothing does.
    let problems: [Problem]

    /// - Parameter content: what is signed; nil if there is no content.
    init(of data: SignedData, content: LocatedEntity?) {
        guard !data.signers.isEmpty else {
            problems = []
            return
        }
        guard data.isData else {
            problems = [Problem(.contentNotData, "\(Self.foreignType(of: data)), so it was not signed as mail")]
            return
        }
        guard let content else {
            problems = []
            return
        }
        let head = Self.head(of: content)
        if Self.isGitObject(head) {
            problems = [Problem(.contentNotMail, "what is signed is an object of git, and no mail")]
        } else if Self.beginsWithField(head), content.entity.header.fields.contains(where: \.isContentField) {
            problems = []
        } else if data.signers.contains(where: { $0.signedAttributesEncoding == nil }), !Self.isText(content) {
            let text = "a signature without attributes covers content that is neither text nor has a MIME header"
            problems = [Problem(.contentNotMail, text)]
        } else {
            problems = [
                Problem(.noMIMEHeader, "what is signed has no MIME header, and was possibly not signed as mail")
            ]
        }
    }

    /// The warning for a bare CMS object, which may contain anything.
    static func warnings(about data: SignedData) -> [Problem] {
        data.isData || data.signers.isEmpty ? [] : [Problem(warning: .contentNotData, foreignType(of: data))]
    }

    private static func foreignType(of data: SignedData) -> String {
        "the signed content is of type \(data.contentType), no data"
    }

    /// The number of bytes that are enough to recognize what is signed.
    private static let reach = 256

    private static func head(of content: LocatedEntity) -> [UInt8] {
        let range = content.entity.range
        let end = min(range.upperBound, range.lowerBound.addingReportingOverflow(reach).partialValue)
        // What cannot be read here is no field.
        return (try? content.source.bytes(in: range.lowerBound..<end)) ?? []
    }

    /// Whether the content is text without control characters, which the messages of other protocols contain.
    private static func isText(_ content: LocatedEntity) -> Bool {
        let observer = PlaintextObserver(checksText: true)
        do { try content.source.reader(in: content.entity.range).copy(to: observer) } catch { return false }
        return observer.isCleanText == true
    }

    /// Whether `head` begins with the name of a header field and a colon. RFC 5322 §3.6.8 permits more characters, which
    /// occur at the start of JSON and of other text, but in no MIME header.
    private static func beginsWithField(_ head: [UInt8]) -> Bool {
        guard let colon = head.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
        return head[..<colon].allSatisfy { $0 == UInt8(ascii: "-") || 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 & ~0x20 }
    }

    /// Whether `head` begins like a commit, a tag or a push certificate.
    private static func isGitObject(_ head: [UInt8]) -> Bool {
        let lines = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
        func names(_ line: Substring?, _ word: String) -> Bool {
            guard let line, line.hasPrefix("\(word) ") else { return false }
            let name = line.dropFirst(word.count + 1)
            return [40, 64].contains(name.count) && name.allSatisfy(\.isHexDigit)
        }
        return names(lines.first, "tree") || lines.first?.hasPrefix("certificate version ") == true
            || names(lines.first, "object") && lines.dropFirst().first?.hasPrefix("type ") == true
    }
}
