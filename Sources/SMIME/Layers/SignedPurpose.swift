import CMSSyntax
import InternetMessage
import PKIX

/// Checks whether what is signed in a mail was meant as mail.
///
/// A signature does not say what it was made for. What a person signed for another purpose, such as a commit, a receipt
/// (RFC 2634 §2) or the messages of a TLS handshake (RFC 5246 §7.4.8), could be presented as a mail by that person.
struct SignedPurpose {
    /// The reasons why the content was not signed as mail, or possibly not; empty if there is none.
    let problems: [Problem]

    /// - Parameter content: what is signed; nil if there is no content.
    /// - Throws: errors of reading.
    init(of data: SignedData, content: LocatedEntity?) throws {
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
        let head = try content.source.bytes(in: content.entity.range.prefix(Self.examinedCount))
        let isBare = data.signers.contains { $0.signedAttributesEncoding == nil }
        let hasHeader = Self.beginsWithField(head) && content.entity.header.first("Content-Type") != nil
        if Self.isGitObject(head) {
            problems = [Problem(.contentNotMail, "what is signed is a git object, not mail")]
        } else if isBare, try !Self.isText(content, hasHeader ? content.entity.header.range : content.entity.range) {
            let text = "a signature without attributes covers content that is neither text nor has a MIME header"
            problems = [Problem(.contentNotMail, text)]
        } else if !hasHeader {
            problems = [
                Problem(.noMIMEHeader, "what is signed has no MIME header, and was possibly not signed as mail")
            ]
        } else if isBare {
            let text = "the signature has no signed attributes, so it was possibly not made for mail"
            problems = [Problem(.attributesMissing, text)]
        } else {
            problems = []
        }
    }

    /// The warning that the signed content is not of type data; empty if it is, or if there are no signers. For a bare CMS
    /// object this is not an error, because such an object may contain anything.
    static func warnings(about data: SignedData) -> [Problem] {
        data.isData || data.signers.isEmpty ? [] : [Problem(warning: .contentNotData, foreignType(of: data))]
    }

    private static func foreignType(of data: SignedData) -> String {
        "the signed content is of type \(data.contentType), not data"
    }

    /// The number of bytes that are enough to recognize what is signed.
    private static let examinedCount = 256

    /// Whether the bytes in `range` are text without control characters, which the messages of other protocols contain.
    private static func isText(_ content: LocatedEntity, _ range: Range<Int>) throws -> Bool {
        let observer = PlaintextObserver(checksText: true)
        try content.source.reader(in: range).copy(to: observer)
        return observer.isCleanText == true
    }

    /// Whether `head` begins with the name of a header field and a colon. RFC 5322 §3.6.8 permits more characters, which
    /// occur at the start of JSON and of other text.
    private static func beginsWithField(_ head: [UInt8]) -> Bool {
        guard let colon = head.firstIndex(of: UInt8(ascii: ":")) else { return false }
        var name = head[..<colon]
        while name.last?.isBlank == true { name.removeLast() }
        return !name.isEmpty
            && name.allSatisfy { "-_.".utf8.contains($0) || 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 & ~0x20 }
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
