import ByteStreams
public import Foundation
public import InternetMessage

/// What keeps a gateway from passing a message on.
public enum GatewayError: Error, Equatable, Sendable {
    /// We changed it too often already.
    case loop(passes: Int)
    /// It comes in from an account of ours in clear, and must go to `recipients` encrypted.
    case mustBeEncrypted(sender: EmailAddress, recipients: [EmailAddress])
    /// It could not be read, comes from an account of ours, and must go to `recipients` encrypted.
    case mayBeClear(sender: EmailAddress, recipients: [EmailAddress])
    /// It goes back to its sender: what is required cannot be done, as each of `obstacles` says.
    case refused(obstacles: [String])
    /// It waits: what is required cannot be done now, as each of `obstacles` says.
    case waiting(obstacles: [String])
}

extension GatewayError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// One sentence for a log or a user, in lower case and without a full stop.
    public var description: String {
        switch self {
        case .loop(let passes): "mail loop: changed here \(passes) times already"
        case .mustBeEncrypted(let sender, let recipients):
            "mail from \(sender) to \(recipients.map(\.text).joined(separator: ", ")) must be encrypted, and is not: "
                + "send it through the mail server's port for outgoing mail"
        case .mayBeClear(let sender, let recipients):
            "mail from \(sender) to \(recipients.map(\.text).joined(separator: ", ")) must be encrypted, and the filter died at this "
                + "message before it knew whether it is"
        case .refused(let obstacles), .waiting(let obstacles): obstacles.joined(separator: ", ")
        }
    }
}

/// The host that a filter works on: what it calls itself, and what others must not call themselves.
///
/// RFC 8601 §2.5
public struct Gateway: Sendable {
    /// How often one message is changed by the same gateway. Out and in is twice; list servers send it round again.
    public static let maximumPasses = 8
    /// The field that counts how often we changed a message.
    static let loopField = "X-SMIME-Filtered"

    /// The authserv-id.
    public let name: String
    /// The names that mean us, in lower case and with A-labels; every host is `localhost` to itself, and to readers on it.
    private let claims: Set<String>

    /// A gateway that calls itself `name`. No resolver is asked.
    ///
    /// - Parameter host: what else it is called.
    public init(name: HostName, host: HostName = .unresolved) {
        self.name = name.full
        claims = Set([name.full, host.full, host.bare, "localhost", "localhost.localdomain"].map(Self.folded))
    }

    /// A gateway that calls itself by the host's full name, for which a resolver may have to be asked: that blocks.
    public init() {
        let host = HostName()
        self.init(name: host, host: host)
    }

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
        return NewField(Self.loopField, "\(name); count=\(passes + 1)")
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
