import CMS
import Foundation
import Keystore
import MIME
import MailFilter
import SMIME
import Streams

/// The statuses a process of ours ends with, from sysexits(3). Thrown by itself it ends the process without a word.
enum ExitStatus: Int32, Error, Comparable {
    case success = 0
    /// The answer is no: a signature that is not valid, a certificate that expires.
    case negative = 1
    case usage = 64
    /// The input is not what it should be.
    case badData = 65
    /// An input file cannot be opened.
    case noInput = 66
    /// Unknown account, or a recipient without a usable certificate.
    case noUser = 67
    /// A service needed for the answer cannot be reached.
    case unavailable = 69
    /// Our own fault.
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
    case tryAgain = 75
    /// Wrong passphrase, locked key, or permissions.
    case noPermission = 77
    /// Configuration or store unusable.
    case configuration = 78

    static func < (a: ExitStatus, b: ExitStatus) -> Bool { a.rawValue < b.rawValue }
}

/// Why a command failed: its status, one sentence, and what to do about it.
///
/// The one place where errors of the libraries become statuses. The switches have no default, so that a new case does
/// not compile until it has a status.
struct Failure: Error {
    let status: ExitStatus
    let message: String
    let hints: [String]

    init(_ status: ExitStatus, _ message: String, hints: [String] = []) {
        self.status = status
        self.message = message
        self.hints = hints
    }

    /// What ArgumentParser says about arguments, in our manner: lower case, no full stop.
    init(usage message: String, hint: String?) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        var message = lines.first ?? ""
        // What could have been said stands below, each on a line of its own.
        let choices = lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        if let end = message.range(of: ". Please provide one of the following:"), !choices.isEmpty {
            message = message[..<end.lowerBound] + "; it can be \(choices.joined(separator: ", "))"
        }
        while message.hasSuffix(".") { message.removeLast() }
        let first = message.prefix(1)
        // A name that begins the sentence keeps its case.
        let isWord = message.dropFirst().first?.isLowercase ?? false
        self.init(
            .usage,
            (isWord ? first.lowercased() : String(first)) + message.dropFirst(),
            hints: hint.map { [$0] } ?? []
        )
    }

    /// Any error, said of the file or address `subject` if it does not name one itself.
    init(_ error: any Error, in subject: String? = nil) {
        switch error {
        case let failure as Failure: self = failure
        case let error as CMSError: self.init(cms: error, in: subject)
        case let error as GatewayError: self.init(gateway: error)
        case let error as KeystoreError: self.init(keystore: error)
        case let error as MIMEError: self.init(mime: error, in: subject)
        case let error as StreamError: self.init(stream: error, in: subject)
        case let error as SMIMEError: self.init(smime: error, in: subject)
        case let error as TransportError: self.init(.tryAgain, error.reason)
        case let error as OpenSSLError: self.init(cms: .openSSL(error), in: subject)
        case is CancellationError: self.init(.tryAgain, "interrupted")
        default: self.init(.software, Self.said(String(describing: error), of: subject))
        }
    }

    /// `text` behind the subject it is about.
    static func said(_ text: String, of subject: String?) -> String { subject.map { "\($0): \(text)" } ?? text }
}

extension Failure: CustomStringConvertible {
    var description: String { message }
}

extension Failure {
    private init(cms error: CMSError, in subject: String?) {
        let (status, text): (ExitStatus, String) =
            switch error {
            case .decryptionFailed: (.badData, "decryption failed")
            case .limitExceeded(let limit): (.badData, "refused, beyond a limit: \(limit)")
            case .malformed(let structure, let detail): (.badData, "malformed \(structure.rawValue): \(detail)")
            case .noKeyPair: (.badData, "no private key in it belongs to one of its certificates")
            case .openSSL(let error): (.software, error.description)
            case .unsupported(let what): (.badData, "unsupported: \(what)")
            case .wrongPassphrase: (.noPermission, "wrong passphrase")
            }
        self.init(status, Self.said(text, of: subject))
    }

    private init(gateway error: GatewayError) {
        switch error {
        case .loop(let passes): self.init(.badData, "5.4.6 mail loop: changed here \(passes) times already")
        }
    }

    private init(smime error: SMIMEError, in subject: String?) {
        let (status, text): (ExitStatus, String) =
            switch error {
            case .cipherBelowFloor(let cipher, let floor):
                (.usage, "\(cipher.name) is below encryption.floor, which is \(floor.name)")
            case .defective(let defect): (.badData, "malformed: \(defect.text)")
            case .malformed(let why): (.badData, "malformed: \(why)")
            case .noCommonCipher(let who): (.noUser, "no cipher that all recipients can read: \(who)")
            case .needsSecret:
                (.noPermission, "encrypted with a password or a secret key, and none that fits was given")
            case .notARecipient: (.noPermission, "not encrypted for any identity here")
            case .notEncrypted: (.badData, "not encrypted")
            case .tooManyLayers: (.badData, "refused, beyond a limit: \(MessageOpener.maximumLayers) layers")
            }
        let hints: [String] =
            switch error {
            case .needsSecret: ["give it with --with-password, or with --secret-key-file FILE"]
            case .notARecipient: ["import the key it is for: smime import KEY.p12"]
            case .cipherBelowFloor: ["take a better one, or lower the floor: smime config set encryption.floor NAME"]
            case .noCommonCipher: ["encrypt to each of them alone with --to, or say --cipher NAME"]
            default: []
            }
        self.init(status, Self.said(text, of: subject), hints: hints)
    }

    private init(mime error: MIMEError, in subject: String?) {
        switch error {
        case .limitExceeded, .malformedAddress: self.init(.badData, Self.said(error.description, of: subject))
        case .unreadable(let error): self.init(stream: error, in: subject)
        }
    }

    private init(stream error: StreamError, in subject: String?) {
        switch error {
        case .cannotCreate: self.init(.cannotCreate, error.description)
        case .cannotOpen, .notRegular: self.init(.noInput, error.description)
        case .committed: self.init(.software, error.description)
        case .malformedBase64: self.init(.badData, Self.said(error.description, of: subject))
        case .changedWhileReading, .readFailed, .writeFailed:
            self.init(.inputOutput, Self.said(error.description, of: subject))
        }
    }
}
