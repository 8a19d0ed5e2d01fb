import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEGateway
import SMIMEServer
import Synchronization

/// The command line of this process: what must be known before parsing, and the command that the parser creates.
///
/// These things must be known before parsing:
///
/// - whether the verb is `filter`: a mail server must get status 75 even if parsing fails.
/// - the variables with passphrases: they are removed from the environment before there is a second thread.
/// - the options for the store and for color: hints about errors of the parser need them.
///
/// Everything else comes from the parsed command.
package struct Invocation: Sendable {
    /// The command line of this process. In a worker of `filter` or `serve`, the command line of the process that started the
    /// worker.
    static let current = Invocation(
        FilterWorker.current?.arguments ?? ServerWorker.current?.commandLine ?? CommandLine.bytes
    )

    /// The options that may also precede a verb.
    package static let globalNames = GlobalName.allCases.map { "--\($0.rawValue)" }

    /// The words as bytes, the program's name first; empty if the system did not provide them. Swift reads the words from
    /// /proc.
    let bytes: [[UInt8]]
    /// The arguments after the program's name. Bytes that are not UTF-8 are replaced by replacement characters.
    let words: [String]
    /// The index of the first word that is not UTF-8; nil if all words are.
    let malformedIndex: Int?

    /// Whether the program's name implies the verb, as `smime-sendmail` does.
    let isNamedForVerb: Bool

    /// The command line of any process; `bytes` are its words.
    init(_ bytes: [[UInt8]]) {
        self.bytes = bytes
        let verb = Self.verb(ofProgram: bytes.first)
        isNamedForVerb = !verb.isEmpty
        let given = verb + bytes.dropFirst()
        words = given.map { String(decoding: $0, as: UTF8.self) }
        malformedIndex = given.firstIndex { String(validating: $0, as: UTF8.self) == nil }
    }

    /// The verb that the program's name implies, for callers that can only name a program and no arguments: `smime-git` means
    /// `smime git`.
    ///
    /// `sendmail` is the name of links in the places where programs look for sendmail, and the name under which s-nail calls
    /// any program that sends mail.
    private static func verb(ofProgram name: [UInt8]?) -> [[UInt8]] {
        switch String(decoding: name?.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self) {
        case "smime-git": [Array("git".utf8)]
        case "sendmail", "smime-sendmail": [Array("sendmail".utf8)]
        default: []
        }
    }

    /// The words before `--`, among which options are allowed.
    var options: ArraySlice<String> { words.prefix { $0 != "--" } }

    /// The value of the option `name`, if it can be determined before parsing; nil if the option is not given or has no
    /// value.
    func value(of name: String) -> String? {
        if let joined = options.last(where: { $0.hasPrefix("\(name)=") }) {
            return String(joined.dropFirst(name.count + 1))
        }
        return options.firstIndex(of: name).flatMap { options.dropFirst($0 + 1).first }
    }

    private func has(_ name: String) -> Bool { options.contains { $0 == name || $0.hasPrefix("\(name)=") } }
}

extension Invocation {
    /// Whether the verb is `filter`, even if the rest of the command line is wrong.
    var isFilter: Bool {
        // "outgoing" and "incoming" are not verbs by themselves, and in `--home filter` the word "filter" is the option's
        // value.
        ["filter", "outgoing", "incoming"].contains(Self.verb(in: words[...]))
    }

    /// Whether the verb of `words` is `serve`.
    static func isService(_ words: ArraySlice<String>) -> Bool { verb(in: words) == "serve" }

    /// The first word that is neither an option nor the value of a global option.
    static func verb(in words: ArraySlice<String>) -> String? {
        var rest = words
        while let option = rest.first, option.hasPrefix("-") {
            rest = rest.dropFirst(globalNames.contains(option) ? 2 : 1)
        }
        return rest.first
    }

    /// Whether this command sends messages and records them, so that a second attempt does not send them again.
    var mayDeliver: Bool {
        isFilter && has("--queue-id") && !options.contains("--stdout") && !options.contains("--dry-run")
    }

    /// Whether a failure is reported as JSON on standard output. A filter does so only with --dry-run, because otherwise its
    /// standard output may be the mail.
    var reportsFailures: Bool { options.contains("--json") && (!isFilter || options.contains("--dry-run")) }

    /// Whether the command handles a message in a worker process. The first process then waits, and rescues the message if
    /// the worker dies.
    var isSupervised: Bool { isFilter && !options.contains("--dry-run") }

    /// The options that name environment variables with passphrases.
    package static let passphraseOptions = ["--password-env", "--store-password-env", "--new-password-env"]

    /// The environment variables that contain passphrases.
    var passphraseVariables: Set<String> {
        let names = Self.passphraseOptions
        let parted = zip(options, options.dropFirst()).filter { names.contains($0.0) }.map(\.1)
        let joined = options.compactMap { word in
            names.first { word.hasPrefix("\($0)=") }.map { String(word.dropFirst($0.count + 1)) }
        }
        return Set(parted + joined)
    }
}

extension Invocation {
    /// The verbs that ask the agent of `smime unlock` for the store's key. They are started by the user who unlocked the
    /// store, or by that user's mail programs, most of which start sendmail without a terminal. Filters do not ask the agent:
    /// mail of others must not be signed or opened because a user is logged in.
    private static let verbsWithAgent = [
        "account", "decrypt", "encrypt", "export", "git", "import", "read", "sendmail", "sign", "verify",
    ]

    /// Whether the verb asks an agent.
    var asksKeyAgent: Bool { Self.verb(in: words[...]).map(Self.verbsWithAgent.contains) == true }
}

/// The names of the options that every verb has. `GlobalOptions` takes the names from here.
enum GlobalName: String, CaseIterable {
    case home
    case store
    case storeKeyFile = "store-key-file"
    case storeKeyCommand = "store-key-command"
    case hostSettings = "host-settings"
    case color
}

extension NameSpecification {
    /// The name of an option of every verb.
    static func global(_ name: GlobalName) -> NameSpecification { .customLong(name.rawValue) }
}
