import ByteStreams
import Foundation
import InternetMessage
package import SMIMEAgent
import Synchronization

/// The host that a filter works on: its own name, and the names that other hosts must not use.
///
/// RFC 8601 §2.5
package struct MailHost: Sendable {
    /// How often one host may change a message. Out and in is twice, and list servers add more.
    package static let maximumPasses = 8
    /// The field that counts how often we changed a message.
    static let loopField = "X-SMIME-Filtered"

    /// The authserv-id.
    package let name: String
    /// The names that mean us, in lower case and with A-labels; every host is `localhost` to itself, and to readers on it.
    private let claims: Set<String>

    /// A host that calls itself `name`. No resolver is asked.
    ///
    /// - Parameter host: what else it is called.
    package init(name: HostName, host: HostName = .unresolved) {
        self.name = name.full
        claims = Set([name.full, host.full, host.bare, "localhost", "localhost.localdomain"].map(Self.folded))
    }

    /// A host with the system's full host name, which is asked for once a minute. A resolver may be asked for it, which blocks.
    package init() {
        let now = ContinuousClock.now
        if let kept = Self.kept.withLock({ $0 }), now < kept.end {
            self = kept.host
            return
        }
        let host = HostName()
        self.init(name: host, host: host)
        let kept = self
        Self.kept.withLock { $0 = (kept, now + .seconds(60)) }
    }

    /// The host with the system's name, and how long that counts.
    private static let kept = Mutex<(host: MailHost, end: ContinuousClock.Instant)?>(nil)

    /// Whether `text` is one of our names to people, or to programs that fold look-alikes: `gw。example。org`, for example.
    ///
    /// - Parameter seen: what `SubjectSkeleton` makes of a text.
    func isTakenForUs(_ seen: String) -> Bool { claims.contains { ConfusableWord.isTaken(seen, for: $0) } }

    /// How many characters the longest of our names has.
    var longestName: Int { claims.map(\.count).max() ?? 0 }

    /// The names that mean us.
    var names: [String] { claims.sorted() }

    /// Whether `text` is one of our names, however it is written.
    func isUs(_ text: String) -> Bool { claims.contains(Self.folded(text)) }

    /// The message in `source`, whose header is `header`, with our count raised by one.
    ///
    /// - Throws: `GatewayError.loop`
    func marked(_ source: any ByteSource, _ header: HeaderBlock) throws(GatewayError) -> any ByteSource {
        var edit = HeaderEdit(added: [try mark(on: header)])
        edit.replacement = { isMark($0) ? [] : Array($0.rawBytes) }
        return edit.apply(to: source, header)
    }

    /// The field that says how often we have changed the message with `header`, this time included.
    func mark(on header: HeaderBlock) throws(GatewayError) -> NewField {
        let passes = header.all(Self.loopField).filter(isMark).map(Self.count).max() ?? 0
        guard passes < Self.maximumPasses else { throw .loop(passes: passes) }
        return NewField(Self.loopField, value: "\(name); count=\(passes + 1)")
    }

    /// Whether `field` is our count.
    func isMark(_ field: HeaderField) -> Bool {
        guard field.isNamed(Self.loopField) else { return false }
        return isUs(String(field.value.prefix { $0 != ";" }))
    }

    private static func count(_ field: HeaderField) -> Int {
        let digits = field.value.drop { $0 != "=" }.dropFirst().prefix { $0.isASCII && $0.isNumber }
        return Int(digits) ?? (digits.isEmpty ? 0 : maximumPasses)
    }

    private static func folded(_ text: String) -> String {
        var text = text.trimmingCharacters(in: .whitespaces).lowercased()
        while text.hasSuffix(".") { text.removeLast() }
        return (try? EmailAddress("postmaster@\(text)"))?.asciiDomain ?? text
    }
}
