import ByteStreams
import Foundation

/// Detects that `smime sendmail` was started by the program that it calls.
enum SendmailLoop {
    /// The environment variable that marks programs called by `smime sendmail`.
    private static let variable = "SMIME_SENDMAIL"
    private static nonisolated(unsafe) var found = false

    /// Whether this process is in a loop: the mark of another `smime sendmail` is in its environment, or at least two
    /// of its ancestors are `smime sendmail`.
    ///
    /// The ancestors are counted because a program between the two processes may have cleared the environment, as many
    /// mail servers do for good reason. One ancestor is allowed, as when a delivery forwards mail.
    static var isRunning: Bool { found || SendmailAncestors.count > 1 }

    /// Reads the mark in the environment, and sets it for programs that this process calls. Call this while the process has
    /// one thread.
    static func mark() {
        found = getenv(variable) != nil
        setenv(variable, "1", 1)
    }
}

/// Counts the processes above this process that also are `smime sendmail`, as far as /proc shows them.
///
/// proc(5)
enum SendmailAncestors {
    /// The maximum number of ancestors to examine: in a loop, only few processes lie between two processes of `smime
    /// sendmail`.
    private static let mostSteps = 100

    /// The number of these processes; 0 if /proc is not mounted.
    static var count: Int {
        let program = FileIdentity("/proc/self/exe")
        var (count, id) = (0, getppid())
        for _ in 0..<mostSteps where id > 1 {
            if isSendmail(id, program) { count += 1 }
            id = parent(of: id) ?? 0
        }
        return count
    }

    private static func isSendmail(_ id: pid_t, _ program: FileIdentity?) -> Bool {
        guard let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") else { return false }
        let words = line.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
        let invocation = Invocation(words)
        guard invocation.calls(SMIMECommand.Sendmail.name) else { return false }
        if let running = FileIdentity("/proc/\(id)/exe") { return running == program }
        // Processes of smime forbid memory dumps, so only root can read which program such a process runs. Other users
        // compare the process's name.
        return invocation.isNamedForVerb
            || words.first?.split(separator: UInt8(ascii: "/")).last == Array("smime".utf8)[...]
    }

    private static func parent(of id: pid_t) -> pid_t? {
        guard let line = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return nil }
        // The name in parentheses may itself contain parentheses and blanks. The state and the parent's process ID follow the
        // name.
        let fields = String(decoding: line, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        return fields.dropFirst().first.flatMap { pid_t($0) }
    }
}
