import Foundation

/// The modes in which a terminal delivers what the user types as a line that Return ends.
///
/// Programs in curses, such as mail programs, leave the terminal in other modes when they run a command: Return then sends a
/// carriage return that ends no line.
///
/// termios(3)
struct LineEntry {
    private let terminal: Int32
    /// The modes of the terminal before the question.
    private let former: termios

    /// - Throws: `Failure` with status 77 if `terminal` is not a terminal.
    init(_ terminal: Int32) throws {
        var modes = termios()
        guard tcgetattr(terminal, &modes) == 0 else { throw Failure(.noPermission, "/dev/tty: not a terminal") }
        self.terminal = terminal
        former = modes
    }

    /// Calls `body` while the terminal has the modes for a line. Afterwards, also if a signal ends the process, it has its
    /// former modes.
    ///
    /// - Parameter isShown: whether the typed characters are shown. If they are not, what was typed before the question is
    ///   discarded.
    func read(isShown: Bool, _ body: () -> [UInt8]) -> [UInt8] {
        let moment = isShown ? TCSADRAIN : TCSAFLUSH
        ModeGuard.arm(terminal, former)
        set(modes(isShown: isShown), moment)
        defer {
            set(former, moment)
            ModeGuard.disarm()
        }
        return body()
    }

    private func modes(isShown: Bool) -> termios {
        var modes = former
        modes.c_iflag |= tcflag_t(ICRNL)
        modes.c_iflag &= ~tcflag_t(INLCR | IGNCR)
        modes.c_oflag |= tcflag_t(OPOST | ONLCR)
        modes.c_lflag |= tcflag_t(ICANON | ISIG)
        if isShown {
            modes.c_lflag |= tcflag_t(ECHO)
        } else {
            modes.c_lflag &= ~tcflag_t(ECHO)
            modes.c_lflag |= tcflag_t(ECHONL)
        }
        return modes
    }

    private func set(_ modes: termios, _ moment: Int32) {
        var modes = modes
        tcsetattr(terminal, moment, &modes)
    }
}

/// Restores the terminal's modes if a signal ends the process during a question.
private enum ModeGuard {
    private nonisolated(unsafe) static var terminal: Int32 = -1
    /// The terminal's modes before the question.
    private nonisolated(unsafe) static var modes = termios()
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The signal actions before the question.
    private nonisolated(unsafe) static var former: [(@convention(c) (Int32) -> Void)?] = []

    /// Prepares the guard. Called before the modes are changed, by the only thread that asks.
    static func arm(_ terminal: Int32, _ modes: termios) {
        self.terminal = terminal
        self.modes = modes
        former = signals.map { number in
            signal(number) { number in
                // tcsetattr is allowed in a signal handler: signal-safety(7)
                var modes = ModeGuard.modes
                tcsetattr(ModeGuard.terminal, TCSANOW, &modes)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    static func disarm() { for (number, handler) in zip(signals, former) { signal(number, handler) } }
}
