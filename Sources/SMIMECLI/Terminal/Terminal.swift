import Foundation
import InternetMessage
import LibCrypto
import Synchronization

/// The person at the controlling terminal (/dev/tty), even if standard input and output are redirected.
enum Terminal {
    /// The longest line that a terminal delivers, in bytes.
    private static let lineLimit = 4096

    /// Whether the locale's character set is UTF-8.
    static var isUnicode: Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { ProcessEnvironment[$0] }
        let name = names.first { !$0.isEmpty }?.lowercased() ?? ""
        return name.contains("utf-8") || name.contains("utf8")
    }

    /// The number of columns of the terminal at `descriptor`; nil if `descriptor` is not a terminal, or its width is unknown.
    static func width(_ descriptor: Int32) -> Int? {
        var size = winsize()
        guard isatty(descriptor) == 1, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Asks for a passphrase without showing the typed characters.
    ///
    /// - Parameters:
    ///   - purpose: completes "passphrase …".
    ///   - isNew: whether the passphrase is a new one; the user then types it twice.
    ///   - options: the names of the options that can give the passphrase; nil if there are none.
    /// - Throws: `Failure` with status 77 if there is no terminal, the input ends, or the two typed passphrases differ. An empty
    ///   line is an empty passphrase.
    static func passphrase(
        _ purpose: String,
        isNew: Bool = false,
        otherwise options: String?
    ) throws -> Passphrase {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else {
            throw Failure(
                .noPermission,
                "a passphrase \(purpose) is needed, and there is no terminal to ask",
                hints: options.map { ["provide it with \($0)"] } ?? []
            )
        }
        defer { close(terminal) }
        var first = try hiddenPassphrase(at: "\(isNew ? "new " : "")passphrase \(purpose): ", from: terminal)
        defer { first.wipe() }
        if isNew {
            var second = try hiddenPassphrase(at: "the new passphrase again: ", from: terminal)
            defer { second.wipe() }
            guard first == second else { throw Failure(.noPermission, "the two passphrases differ") }
        }
        return Passphrase(first)
    }

    /// Whether a person can answer a question: standard input is a terminal.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 }

    /// Asks a question and shows the typed answer. Asks only if standard input is a terminal, so that an unattended program
    /// never waits.
    ///
    /// - Returns: the entered line, without blanks around it; nil if standard input is not a terminal, or the process has no
    ///   controlling terminal.
    static func answer(_ question: String) throws -> String? {
        guard isInteractive else { return nil }
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        let entered = try LineEntry(terminal).read(isShown: true) { enteredLine(at: question, from: terminal) }
        return String(decoding: entered, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The line that the user enters after `prompt`; empty at the end of input.
    private static func enteredLine(at prompt: String, from terminal: Int32) -> [UInt8] {
        ProgressBar.hide()
        let text = Array(WrappedText.text("smime: \(prompt.escapedForDisplay)", on: terminal).utf8)
        _ = write(terminal, text, text.count)
        var bytes = [UInt8](repeating: 0, count: lineLimit)
        defer { bytes.wipe() }
        var count = read(terminal, &bytes, bytes.count)
        while count < 0, errno == EINTR { count = read(terminal, &bytes, bytes.count) }
        return Array(bytes.prefix(max(0, count)))
    }

    private static func hiddenPassphrase(at prompt: String, from terminal: Int32) throws -> [UInt8] {
        var entered = try LineEntry(terminal).read(isShown: false) { enteredLine(at: prompt, from: terminal) }
        defer { entered.wipe() }
        guard !entered.isEmpty else { throw Failure(.noPermission, "no passphrase was entered") }
        return Array(entered.prefix { $0 != UInt8(ascii: "\n") })
    }
}

/// Records Ctrl-C and SIGTERM in a flag that long work checks between two steps.
///
/// A second signal of the same kind ends the process as usual.
struct Interruption {
    private static let isSet = Atomic(false)

    /// Whether a signal arrived, so that the work should stop.
    var isPending: Bool { Self.isSet.load(ordering: .relaxed) }

    init() {
        // Initializes the static variable before a signal can arrive.
        Self.isSet.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isSet.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
