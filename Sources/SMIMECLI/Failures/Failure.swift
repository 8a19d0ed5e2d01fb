import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import LibCrypto
import PKIX
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore

/// Why a command failed: its exit status, one sentence, and hints about what to do.
///
/// Errors of the libraries are converted to exit statuses only by initializers of this type, and of `GatewayRefusal` for mail
/// in a gateway. The switches over the cases of an error have no default, so that a new case does not compile until it has a
/// status.
struct Failure: Error {
    let status: ExitStatus
    let message: String
    let hints: [String]
    /// The library's error; nil if there is none.
    var cause: (any Error)?
    /// Whether the failure was already reported on standard error.
    var isReported = false

    init(_ status: ExitStatus, _ message: String, hints: [String] = []) {
        self.status = status
        self.message = message
        self.hints = hints
    }

    /// Rewrites ArgumentParser's message about arguments in the style of smime's messages: lower case, no full stop.
    init(usage message: String, hint: String?) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        var message = lines.first ?? ""
        var hint = hint
        if let end = message.range(of: ". Please provide one of ") {
            // The possible values follow the sentence: if there are few, in quotes; if there are many, each on its own line.
            let listed = lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
            let choices = listed.isEmpty ? Self.quoted(in: message[end.upperBound...]) : listed
            // The value is in quotes before the option's name.
            let value = Self.quoted(in: message[..<end.lowerBound]).first
            let meant = value.flatMap { Suggestion.closest(to: $0, among: choices) }
            hint = meant.map { "did you mean \($0)?" } ?? hint
            // A long list of values would hide the suggested value.
            let isListed = meant == nil || choices.count <= 8
            message = message[..<end.lowerBound] + (isListed ? "; it can be \(choices.joined(separator: ", "))" : "")
        }
        message = Self.rewordingInvalidValue(in: message)
        while message.hasSuffix(".") { message.removeLast() }
        let first = message.prefix(1)
        // A name at the beginning of the sentence keeps its case.
        let isWord = message.dropFirst().first?.isLowercase ?? false
        self.init(
            .usage,
            (isWord ? first.lowercased() : String(first)) + message.dropFirst(),
            hints: hint.map { [$0] } ?? []
        )
    }

    /// `message` with a plainer sentence in place of the parser's about an invalid value. If the reason that follows begins
    /// with the value, the reason alone is the sentence.
    private static func rewordingInvalidValue(in message: Substring) -> Substring {
        guard let found = message.prefixMatch(of: /The value ('.*') is invalid for '([^']*)'/) else { return message }
        let (value, name) = (found.output.1, found.output.2)
        let rest = message[found.range.upperBound...]
        let option = name.prefix { $0 != "<" }
        let place = option.isEmpty ? "" : "\(option.dropLast()): "
        if rest.hasPrefix(": \(value) ") { return "\(place)\(rest.dropFirst(2))" }
        guard name.hasSuffix("<addr>") else { return "\(value) is not valid for \(name)\(rest)" }
        return "\(place)\(value) is not a mail address\(rest)"
    }

    /// The words in single quotes in `text`.
    private static func quoted(in text: Substring) -> [String] {
        let parts = text.split(separator: "'", omittingEmptySubsequences: false)
        return parts.enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The failure for any error about the file or address `subject`. If the error itself names one, `subject` is not added.
    init(_ error: any Error, in subject: String? = nil) {
        switch error {
        case let failure as Failure: self = failure
        case let error as AgentError: self.init(agent: error)
        case let error as CMSError: self.init(cms: error, in: subject)
        case let error as GatewayError: self.init(gateway: error)
        case let error as KeystoreError: self.init(keystore: error)
        case let error as MIMEError: self.init(mime: error, in: subject)
        case let error as SettingError: self.init(setting: error)
        case let error as StreamError: self.init(stream: error, in: subject)
        case let error as MessageError: self.init(message: error, in: subject)
        case let error as TransportError: self.init(.tryAgain, error.description)
        case let error as OpenSSLError: self.init(cms: .openSSL(error), in: subject)
        case is CancellationError: self.init(.tryAgain, "interrupted")
        default: self.init(.software, Self.prefixed(String(describing: error), with: subject))
        }
        if !(error is Failure), cause == nil { cause = error }
    }

    /// The failure with one more hint.
    func adding(hint: String) -> Failure {
        var failure = Failure(status, message, hints: hints + [hint])
        (failure.cause, failure.isReported) = (cause, isReported)
        return failure
    }

    /// `text` with `subject` and a colon in front of it; `text` alone if `subject` is nil.
    static func prefixed(_ text: String, with subject: String?) -> String { subject.map { "\($0): \(text)" } ?? text }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}

extension Failure {
    private init(cms error: CMSError, in subject: String?) {
        let status: ExitStatus =
            switch error {
            case .decryptionFailed, .limitExceeded, .malformed, .noKeyPair, .unsupported: .badData
            case .openSSL: .software
            case .wrongPassphrase: .noPermission
            }
        self.init(status, Self.prefixed(error.description, with: subject))
    }

    private init(gateway error: GatewayError) {
        let refusal = GatewayRefusal(error, in: .outgoing)
        self.init(refusal.exitStatus, refusal.logText)
    }

    private init(setting error: SettingError) {
        switch error {
        case .folderUnreadable:
            self.init(
                .configuration,
                "\(error)",
                hints: ["restore the folder, or name another: smime config set revocation.directory DIR"]
            )
        case .notUnderstood(let setting):
            let hint = "`smime config list` shows the value; to remove it: smime config unset \(setting.rawValue)"
            self.init(.configuration, "\(error)", hints: [hint])
        }
    }

    private init(message error: MessageError, in subject: String?) {
        let status: ExitStatus =
            switch error {
            case .cipherBelowFloor: .usage
            case .certificatesOnly, .defective, .encryptedInParts, .malformed, .notEncrypted, .tooManyLayers,
                .unauthenticated:
                .badData
            case .needsSecret, .notARecipient: .noPermission
            case .noCommonCipher, .unusableRecipient, .unusableSigner: .noUser
            }
        let text =
            switch error {
            case .certificatesOnly: "\(error), for `smime import`"
            case .cipherBelowFloor(let cipher, let floor):
                "\(cipher.name) is below \(Setting.encryptionFloor.rawValue), which is \(floor.name)"
            default: error.description
            }
        let hints: [String] =
            switch error {
            case .needsSecret: ["smime decrypt --with-password FILE, or smime decrypt --secret-key-file KEY-FILE FILE"]
            case .notARecipient: ["import the key it is for: smime import KEY.p12"]
            case .cipherBelowFloor:
                ["choose a stronger one, or lower the floor: smime config set encryption.floor NAME"]
            case .noCommonCipher: ["encrypt to each of them separately with --to, or choose --cipher NAME"]
            default: []
            }
        self.init(status, Self.prefixed(text, with: subject), hints: hints)
    }

    private init(mime error: MIMEError, in subject: String?) {
        switch error {
        case .limitExceeded, .malformedAddress: self.init(.badData, Self.prefixed(error.description, with: subject))
        case .unreadable(let error): self.init(stream: error, in: subject)
        }
    }

    private init(stream error: StreamError, in subject: String?) {
        switch error {
        case .cancelled: self.init(.tryAgain, "interrupted")
        case .cannotCreate: self.init(.cannotCreate, error.description)
        case .cannotOpen, .notRegular: self.init(.noInput, error.description)
        case .alreadyCommitted: self.init(.software, error.description)
        case .spoolFailed: self.init(.inputOutput, error.description)
        case .malformedBase64: self.init(.badData, Self.prefixed(error.description, with: subject))
        case .changedWhileReading, .readFailed, .writeFailed:
            self.init(.inputOutput, Self.prefixed(error.description, with: subject))
        }
    }
}
