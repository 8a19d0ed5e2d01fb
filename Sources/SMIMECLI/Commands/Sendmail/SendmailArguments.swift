import Foundation
import SMIMEAgent

/// The words after `smime sendmail`, as programs write them for sendmail, with options of smime among them.
///
/// Only listed options are accepted. Options that read configuration, write logs, change settings, run a daemon or test
/// something are rejected: a program that passes on words from unknown people must not give them access to this user's
/// files.
///
/// sendmail(1) of Postfix, sendmail(8) of Sendmail
package struct SendmailArguments: Equatable {
    /// Whether recipients are read from the header (`-t`).
    private(set) var readsHeader = false
    /// Whether a line with a single dot is part of the message (`-i`, `-oi`).
    private(set) var passesLoneDots = false
    /// The envelope sender (`-f`, `-r`); nil if none is given.
    private(set) var sender: String?
    /// The full name of the user (`-F`).
    private(set) var name: String?
    private(set) var recipients: [String] = []
    /// Options that are accepted but not passed on, such as `-N`.
    private(set) var ignored: [String] = []
    /// The options of `smime` itself, which begin with two dashes. They are accepted only before all other words.
    private(set) var own: [String] = []
    /// All other words.
    private(set) var others: [String] = []

    /// The options of smime that have a value.
    package static let ownWithValue =
        Invocation.globalNames + [
            "--encrypt", "--password-env", "--password-fd", "--password-file", "--sendmail", "--sign",
        ]
    /// Options that have no effect here: delivery modes, error modes, and options for behaviour that this command always has.
    private static let harmless: Set<String> = [
        "-G", "-U", "-bm", "-em", "-ep", "-eq", "-ew", "-m", "-n", "-o7", "-o8", "-odb", "-odd", "-odi", "-odq", "-oee",
        "-oem",
        "-oep", "-oeq", "-oew", "-om", "-oo", "-v",
    ]
    /// Letters of options that are ignored together with their values: hops, delivery notifications.
    private static let ignoredWithValue: Set<Character> = ["N", "R", "V", "h"]

    /// - Parameter acceptsOwn: whether options of smime are accepted before the other words. If another program writes
    ///   all the words, as after `smime-sendmail`, a word that looks like such an option may be an address that an
    ///   unknown person chose.
    /// - Throws: `Failure` with status 64 for an option that is not accepted, or that lacks its value.
    init(_ words: [String], acceptsOwn: Bool) throws {
        var rest = words[...]
        while let word = rest.first {
            if word == "--" {
                others += rest
                recipients += rest.dropFirst()
                return
            }
            let (before, isOwn) = (rest, word.hasPrefix("--"))
            rest = rest.dropFirst()
            if isOwn {
                guard acceptsOwn, others.isEmpty else { throw Self.misplaced(word) }
                readOwnOption(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try readOption(word, &rest)
            } else {
                recipients.append(word)
            }
            if !isOwn { others += before[..<rest.startIndex] }
        }
    }

    private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws {
        switch word {
        case "-t": readsHeader = true
        case "-i", "-oi": passesLoneDots = true
        case "-ti", "-it": (readsHeader, passesLoneDots) = (true, true)
        case _ where Self.harmless.contains(word): break
        case _ where word.hasPrefix("-f"), _ where word.hasPrefix("-r"): sender = try value(of: word, &rest)
        case _ where word.hasPrefix("-F"): name = try value(of: word, &rest)
        // The encoding of the body, which cron names, is seen in the mail itself.
        case _ where word.hasPrefix("-B"): _ = try value(of: word, &rest)
        case _ where word.dropFirst().first.map(Self.ignoredWithValue.contains) == true:
            ignored.append(String(word.prefix(2)))
            _ = try value(of: word, &rest)
        default:
            throw Failure(
                .usage,
                "sendmail option '\(word)' is not accepted",
                hints: ["accepted are -t, -i, -f ADDR, -F NAME, and sendmail's options for delivery and errors"]
            )
        }
    }

    /// The value of a short option: the rest of its word, or the next word.
    private func value(of word: String, _ rest: inout ArraySlice<String>) throws -> String {
        if word.count > 2 { return String(word.dropFirst(2)) }
        guard let next = rest.popFirst() else { throw Failure(.usage, "sendmail option '\(word)' needs a value") }
        return next
    }

    /// The error for an option of smime after other words. Programs such as PHP append words that unknown people chose,
    /// and an option of smime among these words could name a program to run.
    private static func misplaced(_ word: String) -> Failure {
        Failure(
            .usage,
            "sendmail option '\(word)' is not accepted",
            hints: ["put smime's own options directly after `smime sendmail`, before all of sendmail's"]
        )
    }

    private mutating func readOwnOption(_ word: String, _ rest: inout ArraySlice<String>) {
        own.append(word)
        guard Self.ownWithValue.contains(word), let next = rest.popFirst() else { return }
        own.append(next)
    }
}

/// The domain of mail that users of this host send: the content of /etc/mailname (Debian Policy §11.6), or else the host's
/// full name.
enum MailDomain {
    static var current: HostName {
        let text = try? String(contentsOfFile: "/etc/mailname", encoding: .utf8)
        let name = text?.split(separator: "\n").first.map { $0.trimmingCharacters(in: .whitespaces) }
        return name.flatMap { HostName($0) } ?? HostName()
    }
}
