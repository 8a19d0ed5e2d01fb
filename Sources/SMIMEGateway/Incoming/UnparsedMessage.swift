package import ByteStreams
import Foundation
import InternetMessage
import SMIMEAgent

/// A received message without forged verdicts. It is delivered if the filter crashed at the message.
///
/// The message is read line by line, without the parsers that may have crashed.
package struct UnparsedMessage {
    private let source: any ByteSource
    private let header: [UInt8]
    private let bodyStart: Int

    /// Reads the header of the message in `source`, and adds the verdict `smime=permerror` before it.
    ///
    /// - Parameter tagsSubjects: whether a tag is also written into the subject. Brackets in the subject then become
    ///   parentheses, so that no other tag remains.
    /// - Throws: `MIMEError.limitExceeded` for a header from which forged verdicts cannot be removed; `GatewayError.loop`;
    ///   what reading throws.
    package init(_ source: any ByteSource, by host: MailHost, tagsSubjects: Bool) throws {
        let limit = MIMELimit.headerBytes.rawValue
        let bytes = try source.bytes(in: 0..<min(source.count, limit + 2))
        let end = UnparsedHeader.end(in: bytes)
        guard end != nil || bytes.count == source.count else { throw MIMEError.limitExceeded(.headerBytes) }
        bodyStart = end ?? bytes.count
        let lines = Array(bytes[..<bodyStart])
        let top = Self.countBeforeFields(lines)
        let lineEnd = Self.lineEnd(of: lines)
        var (kept, removed) = UnparsedHeader(of: host).removingVerdicts(from: Array(lines[top...]))
        if tagsSubjects { kept = UnparsedHeader.fields(kept).flatMap { Self.withoutTags($0, lineEnd) } }
        if kept.last.map({ $0 != UInt8(ascii: "\n") }) ?? false { kept += lineEnd }
        let passes = removed.map { Self.passes($0, host) }.max() ?? 0
        guard passes < MailHost.maximumPasses else { throw GatewayError.loop(passes: passes) }
        let own = [
            "\(AuthenticationResults.fieldName): \(host.name); smime=permerror (not processed)",
            "\(MailHost.loopField): \(host.name); count=\(passes + 1)",
        ]
        header = Array(lines[..<top]) + own.flatMap { Array($0.utf8) + lineEnd } + kept
        self.source = source
    }

    /// Writes the message.
    ///
    /// - Throws: what reading and writing throw.
    package func write(to sink: any ByteSink) throws {
        try MemorySource(header).reader().copy(to: sink)
        try source.reader(in: bodyStart..<source.count).copy(to: sink)
    }

    /// The Message-ID of the message in `source` as written, but without blanks; nil if there is none within the first
    /// 64 KiB.
    package static func messageID(of source: any ByteSource) -> String? {
        guard let bytes = try? source.bytes(in: 0..<min(source.count, 65_536)) else { return nil }
        let lines = Array(bytes[..<(UnparsedHeader.end(in: bytes) ?? bytes.count)])
        let name = Array("message-id".utf8)
        guard let field = UnparsedHeader.fields(lines).first(where: { UnparsedHeader.name(of: $0) == name }) else {
            return nil
        }
        let value = field.drop { $0 != UInt8(ascii: ":") }.dropFirst().filter { $0 > 32 && $0 != 127 }
        return value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
    }

    /// The number of bytes before the first field: a byte order mark, and the From line of an mbox file.
    private static func countBeforeFields(_ lines: [UInt8]) -> Int {
        let mark = lines.starts(with: HeaderBlock.byteOrderMark) ? HeaderBlock.byteOrderMark.count : 0
        guard lines[mark...].starts(with: "From ".utf8) || lines[mark...].starts(with: ">From ".utf8),
            let feed = lines.firstIndex(of: UInt8(ascii: "\n"))
        else { return mark }
        return feed + 1
    }

    private static func lineEnd(of lines: [UInt8]) -> [UInt8] {
        guard let feed = lines.firstIndex(of: UInt8(ascii: "\n")), feed > 0, lines[feed - 1] == UInt8(ascii: "\r")
        else {
            return Array("\n".utf8)
        }
        return Array("\r\n".utf8)
    }

    /// How many times this host changed the message before, according to its count in `field`.
    private static func passes(_ field: [UInt8], _ host: MailHost) -> Int {
        guard UnparsedHeader.name(of: field).elementsEqual(MailHost.loopField.lowercased().utf8) else { return 0 }
        let value = field.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        let name = String(decoding: value.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
        guard host.isOwnName(name) else { return 0 }
        let digits = value.drop { $0 != UInt8(ascii: "=") }.dropFirst().prefix { (48...57).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? (digits.isEmpty ? 0 : MailHost.maximumPasses)
    }

    /// The Subject `field` with this filter's tag, and with parentheses instead of brackets. Its text is replaced if it
    /// contains an encoded word, or anything other than printable ASCII and blanks. Any other field is returned
    /// unchanged.
    private static func withoutTags(_ field: ArraySlice<UInt8>, _ lineEnd: [UInt8]) -> [UInt8] {
        guard UnparsedHeader.name(of: field).elementsEqual("subject".utf8) else { return Array(field) }
        var value = Array(field.drop { $0 != UInt8(ascii: ":") }.dropFirst())
        let isText = value.allSatisfy { 32..<127 ~= $0 || 9...10 ~= $0 || $0 == 13 }
        let isPlain = isText && !zip(value, value.dropFirst()).contains { $0 == 61 && $1 == 63 }
        if !isPlain { value = Array(" (not shown)".utf8) + lineEnd }
        value = value.map {
            switch $0 {
            case UInt8(ascii: "["), UInt8(ascii: "{"): UInt8(ascii: "(")
            case UInt8(ascii: "]"), UInt8(ascii: "}"): UInt8(ascii: ")")
            default: $0
            }
        }
        return Array("Subject: [\(VerdictTags.unprocessed)]".utf8) + value
    }
}
