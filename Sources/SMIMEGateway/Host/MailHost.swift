import ByteStreams
import Foundation
import InternetMessage
package import SMIMEAgent
package import SMIMEStore
import Synchronization

/// The host of a filter: its own name, and the names that other hosts must not use in verdicts.
///
/// RFC 8601 §2.5
package struct MailHost: Sendable {
    /// How many times a host may change a message. Mail between two users of the host is changed twice, as outgoing and as
    /// incoming mail, and mailing lists add more changes.
    package static let maximumPasses = 8
    /// The field that counts how many times this host has changed a message.
    static let loopField = "X-SMIME-Filtered"

    /// The authserv-id of the host.
    package let name: String
    /// The names of the host, in lower case and with A-labels. `localhost` is included, because every host and its users
    /// understand this name as the host itself.
    private let claims: Set<String>

    /// A host with the given names. No resolver is queried.
    ///
    /// - Parameter host: the host's other names.
    package init(name: HostName, host: HostName = .unresolved) {
        self.name = name.full
        claims = Set([name.full, host.full, host.bare, "localhost", "localhost.localdomain"].map(Self.folded))
    }

    /// A host with the system's full host name, which is determined at most once a minute. This may query a resolver, which
    /// blocks the thread.
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

    /// The cached host with the system's name, and when the cache expires.
    private static let kept = Mutex<(host: MailHost, end: ContinuousClock.Instant)?>(nil)

    /// Whether people, or programs that fold confusable characters, may mistake `seen` for a name of this host:
    /// `gw。example。org`, for example.
    ///
    /// - Parameter seen: the text of a `SubjectSkeleton`.
    func resemblesOwnName(_ seen: String) -> Bool { claims.contains { ConfusableWord.isConfusable(seen, with: $0) } }

    /// The length of the longest name of this host in characters.
    var longestName: Int { claims.map(\.count).max() ?? 0 }

    /// The names of this host.
    var names: [String] { claims.sorted() }

    /// Whether `text` is a name of this host, in any spelling.
    func isOwnName(_ text: String) -> Bool { claims.contains(Self.folded(text)) }

    /// The message in `source`, whose header is `header`, with this host's count increased by one.
    ///
    /// - Throws: `GatewayError.loop`
    func marked(_ source: any ByteSource, _ header: HeaderBlock) throws(GatewayError) -> any ByteSource {
        var edit = HeaderEdit(added: [try mark(on: header)])
        edit.replacement = { isMark($0) ? [] : Array($0.rawBytes) }
        return edit.apply(to: source, header)
    }

    /// The field with the number of this host's changes to the message with `header`, including the current change.
    func mark(on header: HeaderBlock) throws(GatewayError) -> NewField {
        let passes = header.all(Self.loopField).filter(isMark).map(Self.count).max() ?? 0
        guard passes < Self.maximumPasses else { throw .loop(passes: passes) }
        return NewField(Self.loopField, value: "\(name); count=\(passes + 1)")
    }

    /// Whether `field` is the field with this host's count.
    func isMark(_ field: HeaderField) -> Bool {
        guard field.isNamed(Self.loopField) else { return false }
        return isOwnName(String(field.value.prefix { $0 != ";" }))
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

extension Store {
    /// The envelope sender of mail that was decrypted here: the setting `filter.decrypted-sender`. The default is the null
    /// sender.
    ///
    /// Bounces are sent to this address: an attacker who sends another person's ciphertext must not get the decrypted text
    /// back.
    ///
    /// - Throws: `KeystoreError`
    package func decryptedSender() async throws -> EnvelopeSender {
        try await decodedSettings { try $0[.decryptedSender, { EnvelopeSender($0) }] }
    }

    /// The host that the setting `filter.authserv-id` names; the system's host name if the setting is empty.
    ///
    /// - Throws: `SettingError.notUnderstood`, `KeystoreError`
    package func mailHost() async throws -> MailHost {
        // The system's host name may change while the store does not, so it is not cached with the settings.
        let named = try await decodedSettings { values -> MailHost? in
            let text = try values[.authservID, { $0 }]
            guard !text.isEmpty else { return nil }
            guard let name = HostName(text) else { throw SettingError.notUnderstood(.authservID) }
            return MailHost(name: name)
        }
        return named ?? MailHost()
    }
}
