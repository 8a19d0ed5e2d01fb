package import ByteStreams
package import Foundation
import InternetMessage
package import PKIX
package import SMIME
import SMIMEAgent
package import SMIMEStore

/// Verifies incoming mail and writes the verdict into its header. Signed content is not changed.
package struct IncomingFilter: Sendable {
    private let store: Store
    private let givenProvider: (any KeyProvider)?
    private let time: Date
    private let host: MailHost
    private let tagsSubjects: Bool?
    private let options: ValidationOptions
    private let revocation: (any RevocationSource)?
    private let warn: @Sendable (String) -> Void

    /// A filter that reads rules and accounts from `store`, and keys and trust as of `time` from `provider`. Create a new
    /// filter for each message, or for messages that are handled at the same time.
    ///
    /// - Parameters:
    ///   - provider: nil means a `StoreKeyProvider` of the store with the system's trust anchors.
    ///   - host: the host named in the verdict. `Store.mailHost()` returns the host in the settings.
    ///   - tagsSubjects: whether the verdict is also written into the subject; nil means the setting `filter.tags`.
    ///   - options: the options for validating signers' certificates.
    ///   - revocation: the services to query if the local data does not decide. Nil means none, regardless of the setting
    ///     `revocation.online`; `OnlineRevocation` respects that setting.
    ///   - warn: called with warnings: the reason why a message stays encrypted although a rule permits decryption, and
    ///     ignored input, such as files that are not revocation lists.
    package init(
        store: Store,
        provider: (any KeyProvider)? = nil,
        time: Date,
        host: MailHost,
        tagsSubjects: Bool? = nil,
        options: ValidationOptions = ValidationOptions(),
        revocation: (any RevocationSource)? = nil,
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        givenProvider = provider
        self.time = time
        self.host = host
        self.tagsSubjects = tagsSubjects
        self.options = options
        self.revocation = revocation
        self.warn = warn
    }

    /// The plan for the message in `source` and its `recipients`. A repeated recipient gets the message once.
    ///
    /// - Parameter structure: the structure of the message; nil reads it.
    /// - Throws: `GatewayError.loop`; `MIMEError.limitExceeded(.headerBytes)` if forged verdicts may remain beyond the limit of
    ///   a header; otherwise only errors that prevent a verdict, such as an unreadable store. Any other fault of the message
    ///   results in a verdict instead of an error.
    package func plan(
        _ source: any ByteSource,
        structure: Entity? = nil,
        to recipients: [String]
    ) async throws -> IncomingPlan {
        let structure = try structure ?? MIMEReader.messageWithinLimits(in: source)
        let provider = givenProvider ?? StoreKeyProvider(store, warn: warn)
        let tags = if let tagsSubjects { tagsSubjects } else { try await store.tagsSubjects() }
        let verified = try await opener(provider).verify(source, structure: structure)
        var plan = IncomingPlan(report: verified.report, learnable: verified.learnable)
        let recipients = recipients.exactlyUnique
        var others = recipients
        if verified.report.layers.contains(where: \.kind.isEncryption) {
            let header = try structure?.header ?? HeaderBlock(ofMessageIn: source)
            let gatewayKeys = GatewayKeys(store: store, provider: provider, header: header)
            // The same keys decrypt the message once, however many recipients have them.
            var known: [GatewayKeys.Use: DecryptedMail] = [:]
            for recipient in recipients {
                guard let keys = try await gatewayKeys.keys(of: recipient) else { continue }
                let mail: DecryptedMail
                if let found = known[keys.use] {
                    mail = found
                } else {
                    mail = try await decrypted(
                        source,
                        structure: structure,
                        with: keys,
                        judgedBy: provider,
                        tagged: tags
                    )
                    known[keys.use] = mail
                }
                if let reason = mail.obstacle(for: keys) {
                    warn("not decrypted for \(keys.recipient): \(reason)")
                } else if let message = mail.message {
                    plan.add(message, for: keys)
                    plan.learnable = plan.learnable ?? message.learnable
                    others.removeAll { ExactText($0) == ExactText(recipient) }
                }
            }
        }
        guard !others.isEmpty else { return plan }
        plan.messages.insert(
            IncomingPlan.Message(
                recipients: others,
                source: try marked(source, header: structure?.header, verified.report, tagged: tags, decrypted: nil),
                report: verified.report,
                decryption: nil
            ),
            at: 0
        )
        return plan
    }

    /// The message decrypted with the keys of one recipient, or why it stays encrypted.
    private func decrypted(
        _ source: any ByteSource,
        structure: Entity?,
        with keys: GatewayKeys.Recipient,
        judgedBy provider: any KeyProvider,
        tagged: Bool
    ) async throws -> DecryptedMail {
        let opened: OpenedMail
        switch try await open(source, structure: structure, with: keys) {
        case .failure(let reason): return DecryptedMail(reason)
        case .success(let result): opened = result
        }
        let cipher = opened.message.report.layers.first(where: \.kind.isEncryption)?.algorithm ?? "unknown"
        do {
            let plain = try Self.clear(opened.message, limit: 4 * source.count + Self.spareCount)
            let verdict = try await verdict(on: plain, from: opened.message, by: provider)
            let clear = try marked(plain, header: nil, verdict.report, tagged: tagged, decrypted: cipher)
            return DecryptedMail(opened, cipher: cipher, in: clear, verdict)
        } catch let error as MIMEError where !error.isUnreadable {
            return DecryptedMail(.fault("\(error)"))
        } catch is TooLarge {
            return DecryptedMail(.fault("the decrypted mail is much larger than the received one"))
        } catch is TransportForm.Unsafe {
            return DecryptedMail(.fault("mail servers would change the decrypted content"))
        }
    }

    /// The verdict on a decrypted message. If a signature stays in the message or in one of its parts, the message is verified
    /// once more in the form in which it is delivered, because its header is not the received one. The worse verdict counts: a
    /// restored From must not hide that the received From, or a signature around the encryption, was wrong.
    private func verdict(
        on plain: any ByteSource,
        from opened: OpenedMessage,
        by provider: any KeyProvider
    ) async throws -> DecryptedMail.Verdict {
        let verified = try await opener(provider).verify(plain)
        guard opened.keepsSignature || !verified.report.layers.isEmpty else { return (opened.report, opened.learnable) }
        // A good signature in a message that came unsigned proves nothing about the received header; a bad one counts.
        let isGood = [.valid, .weak].contains(verified.report.status)
        let isUnsigned = opened.report.status == .unsigned
        let isWorse = isUnsigned ? isGood : opened.report.isWorse(than: verified.report)
        return isWorse ? (opened.report, nil) : (verified.report, verified.learnable)
    }

    private func opener(_ provider: any KeyProvider) -> MessageOpener {
        MessageOpener(provider, at: time, options: options, revocation: revocation)
    }

    /// A small message may contain compressed content for each of many recipients, which must not fill the disk: a decrypted
    /// message may have four times the size of the received one, and this many bytes more.
    private static let spareCount = 10 << 20

    private struct TooLarge: Error {}

    /// The decrypted message in the form in which it is delivered.
    ///
    /// - Throws: `TooLarge` if it has more than `limit` bytes; `TransportForm.Unsafe`; `MIMEError.limitExceeded` if the message
    ///   exceeds a limit; what reading and writing throw.
    private static func clear(_ opened: OpenedMessage, limit: Int) throws -> any ByteSource {
        let spool = try Spool.source { spool in
            var count = 0
            let sink = ClosureSink { bytes in
                count += bytes.count
                guard count <= limit else { throw TooLarge() }
                try spool.write(bytes)
            }
            try opened.write(to: sink, isGateway: true)
        }
        guard let clear = try TransportForm.of(spool, isSigned: opened.keepsSignature) else {
            throw TransportForm.Unsafe()
        }
        return clear
    }

    /// The message, decrypted with the private keys of the recipient's account, or otherwise with those of the domain. No
    /// other keys are tried.
    private func open(
        _ source: any ByteSource,
        structure: Entity?,
        with keys: GatewayKeys.Recipient
    ) async throws -> Result<OpenedMail, DecryptedMail.Obstacle> {
        for set in keys.sets {
            let used = UsedKeys(provider: set)
            do {
                let opened = try await opener(used).decrypt(
                    source,
                    structure: structure,
                    keepingSignatures: true,
                    onlyAuthenticated: keys.isAuthenticatedOnly
                )
                guard let certificate = used.first else { return .failure(.noKey) }
                return .success(OpenedMail(message: opened, certificate: certificate, isForDomain: set.isForDomain))
            } catch {
                switch error {
                case MIMEError.unreadable(let cause): throw cause
                // The message may match a key in the next set. After any other error no further set is tried.
                case MessageError.notARecipient: continue
                case MessageError.unauthenticated:
                    return .failure(.fault("\(error), and the rule decrypts only what is authenticated"))
                case is CMSError, is MessageError, is MIMEError, StreamError.malformedBase64:
                    return .failure(.fault("\(error)"))
                default: throw error
                }
            }
        }
        return .failure(.noKey)
    }

    /// The message with its verdict, and without forged verdicts in this host's name.
    ///
    /// - Parameter header: the header of the message; nil reads it.
    private func marked(
        _ source: any ByteSource,
        header: HeaderBlock?,
        _ report: VerificationReport,
        tagged: Bool,
        decrypted cipher: String?
    ) throws -> any ByteSource {
        let results = AuthenticationResults(report, isOpen: cipher != nil).field(by: host.name)
        // The end of a header that exceeds the limit is unknown, so forged verdicts in it could not be removed.
        guard let header = try header ?? HeaderBlock(ofMessageIn: source) else {
            throw MIMEError.limitExceeded(.headerBytes)
        }
        let tags = tagged ? VerdictTags(report, wasDecrypted: cipher != nil) : nil
        var edit = HeaderEdit(added: [results, try host.mark(on: header)])
        if let cipher { edit.added.append(NewField("X-SMIME-Decrypted", value: "\(host.name); cipher=\(cipher)")) }
        if let field = tags?.field, header.first("Subject") == nil { edit.added.append(field) }
        let host = host
        edit.replacement = { field in
            if host.isForged(field) { return [] }
            guard let tags, field.isNamed("Subject") else { return host.withoutHiddenVerdicts(field) }
            return tags.apply(to: field, lineEnd: header.lineEnd)
        }
        return edit.apply(to: try withoutHiddenVerdicts(source, header), header)
    }

    /// The message without the verdict fields that follow a line which ends the header for this program, but not for other
    /// readers.
    private func withoutHiddenVerdicts(_ source: any ByteSource, _ header: HeaderBlock) throws -> any ByteSource {
        let start = header.range.upperBound
        // A bare LF ends a header with CRLF for this program, but not for all.
        let isBareLineFeed = header.separatorRange.count == 1 && header.bytes.contains(0x0D)
        guard header.separatorRange.isEmpty || isBareLineFeed, start < source.count else { return source }
        let end = min(source.count, start + MIMELimit.headerBytes.rawValue)
        let bytes = try source.bytes(in: start..<end)
        let lines: [UInt8]
        if let length = UnparsedHeader.end(in: bytes, from: header.separatorRange.count) {
            lines = Array(bytes[..<length])
        } else {
            guard end == source.count else { throw MIMEError.limitExceeded(.headerBytes) }
            lines = bytes
        }
        let (kept, removed) = UnparsedHeader(of: host).removingVerdicts(from: lines, and: host.isForged(line:))
        guard !removed.isEmpty else { return source }
        return RewrittenSource(try source.bytes(in: 0..<start) + kept, source, after: start + lines.count)
    }
}

extension MIMEError {
    /// Whether the bytes could not be read, so that the message is not at fault.
    fileprivate var isUnreadable: Bool {
        if case .unreadable = self { true } else { false }
    }
}
