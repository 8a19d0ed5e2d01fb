import Foundation
import Synchronization

extension CommandRunner {
    /// Runs the program at a terminal. The program's questions are answered with `answers` in order. After the last answer,
    /// the input ends.
    ///
    /// - Returns: the result, and the text that the terminal showed.
    public func run(_ arguments: [String], answering answers: [String]) throws -> (CommandResult, shown: String) {
        let terminal = try PseudoTerminal(answers)
        // A program in a new session that opens a terminal makes it its controlling terminal, whatever its standard input
        // is.
        let result = try run(arguments, input: .file(URL(filePath: terminal.path)))
        return (result, terminal.shown)
    }
}

/// A terminal and its simulated user.
private final class PseudoTerminal: Sendable {
    private struct State {
        var answers: ArraySlice<String>
        var shown: [UInt8] = []
        var isOver = false
    }

    /// The path that the program opens.
    let path: String
    private let master: Int32
    /// Kept open, so that the terminal survives moments in which no program has it open.
    private let slave: Int32
    private let state: Mutex<State>

    init(_ answers: [String]) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        guard openpty(&master, &slave, &name, nil, nil) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ENOTTY)
        }
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.master = master
        self.slave = slave
        state = Mutex(State(answers: answers[...]))
        let thread = Thread { [weak self] in while self?.serve() == true {} }
        thread.start()
    }

    deinit {
        close(master)
        close(slave)
    }

    /// The text that the terminal showed, after the program has ended.
    var shown: String {
        _ = serve()
        return state.withLock { state in
            state.isOver = true
            return String(decoding: state.shown, as: UTF8.self)
        }
    }

    /// Waits briefly for output and answers it if it is a question; returns false when the program has ended.
    private func serve() -> Bool {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        let isReady = poll(&entry, 1, 20) > 0
        return state.withLock { state in
            guard !state.isOver else { return false }
            var window = [UInt8](repeating: 0, count: 4096)
            guard isReady, poll(&entry, 1, 0) > 0 else { return true }
            let count = read(master, &window, window.count)
            guard count > 0 else { return true }
            state.shown += window[..<count]
            guard state.shown.suffix(2) == Array(": ".utf8) else { return true }
            let answer = state.answers.popFirst().map { Array("\($0)\n".utf8) } ?? [4]
            _ = write(master, answer, answer.count)
            return true
        }
    }
}
