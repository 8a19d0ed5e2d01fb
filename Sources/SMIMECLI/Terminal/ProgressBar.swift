import ByteStreams
import Foundation
import Synchronization

/// A progress bar on standard error. It appears if standard error is a terminal and the work takes more than a second, and is
/// drawn at most a hundred times.
final class ProgressBar: Sendable {
    /// Whether standard error is a terminal on which a line can be overwritten.
    static var isPossible: Bool { isatty(STDERR_FILENO) == 1 && ProcessEnvironment["TERM"] != "dumb" }

    /// The last drawn bar, and the data for the rate.
    private struct State {
        var percent = 0
        /// The two latest measurements of progress. The rate is computed from the time since the earlier one.
        var marks: (earlier: Mark, later: Mark)
        var isOver = false
    }

    private struct Mark {
        let time: ContinuousClock.Instant
        let done: Int
    }

    /// Whether a bar is on the current line of the terminal. No command shows two bars.
    private static let isShown = Mutex(false)

    private let total: Int
    private let unit: Progress.Unit
    private let passes: Int
    private let start = ContinuousClock.now
    private let isTerminal = ProgressBar.isPossible
    private let state: Mutex<State>

    /// - Parameter passes: how many times each unit of `total` is processed. Each time is counted.
    init(total: Int, unit: Progress.Unit = .pieces, passes: Int = 1) {
        self.total = total
        self.unit = unit
        self.passes = passes
        let begin = Mark(time: start, done: 0)
        state = Mutex(State(marks: (begin, begin)))
    }

    func advance(to count: Int) {
        guard isTerminal, total > 1 else { return }
        let done = min(total, count / passes)
        let percent = done * 100 / total
        let line = state.withLock { state -> String? in
            guard !state.isOver, percent > state.percent else { return nil }
            let now = ContinuousClock.now
            guard now - start > .seconds(1) else { return nil }
            state.percent = percent
            if now - state.marks.later.time > .seconds(3) {
                state.marks = (state.marks.later, Mark(time: now, done: done))
            }
            let time = now - state.marks.earlier.time
            return Progress(
                done: done,
                total: total,
                recent: done - state.marks.earlier.done,
                seconds: time / .seconds(1),
                unit: unit
            ).line
        }
        guard let line else { return }
        Self.isShown.withLock { isShown in
            isShown = true
            Self.write("\r\(line.prefix((Terminal.width(STDERR_FILENO) ?? 80) - 1))\u{1B}[K")
        }
    }

    /// Removes the bar permanently.
    func clear() {
        state.withLock { $0.isOver = true }
        Self.hide()
    }

    /// Removes the bar that is currently shown, if there is one, so that the next message of the command begins at the
    /// margin.
    static func hide() {
        isShown.withLock { isShown in
            if isShown { write("\r\u{1B}[K") }
            isShown = false
        }
    }

    private static func write(_ text: String) {
        let sink = DescriptorSink(STDERR_FILENO)
        try? sink.write(text)
        try? sink.flush()
    }
}

/// The progress of the work.
struct Progress {
    /// The units that are counted.
    enum Unit {
        case bytes, pieces
    }

    let done: Int
    /// The total number of units; at least one.
    let total: Int
    /// The number of units in the last `seconds`.
    let recent: Int
    /// The seconds for which `recent` was measured; more than zero.
    let seconds: Double
    let unit: Unit

    /// The line with the bar, the percentage, the finished and the total amount, the rate, and the remaining time at that
    /// rate.
    var line: String {
        let filled = min(Self.width, done * Self.width / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let rate = Double(recent) / seconds
        let left = rate > 0 ? Int(Double(max(0, total - done)) / rate) : 0
        let time = String(format: "%d:%02d", left / 60, left % 60)
        return "[\(bar)] \(done * 100 / total)%  \(amounts(rate: rate))  \(time) left"
    }

    private func amounts(rate: Double) -> String {
        switch unit {
        case .bytes: "\(done / 1_000_000)/\(total / 1_000_000) MB  \(Self.short(rate / 1_000_000)) MB/s"
        case .pieces: "\(done)/\(total)  \(Self.short(rate))/s"
        }
    }

    private static func short(_ number: Double) -> String {
        number < 10 ? String(format: "%.1f", number) : String(Int(number))
    }

    /// The width of the bar in characters.
    private static let width = 30
}

/// A large input. A progress bar shows how much of it the command has read, once or several times.
final class MeasuredSource: ByteSource {
    /// The size in bytes from which an input counts as large.
    static let least = 50_000_000

    private let source: any ByteSource
    private let bar: ProgressBar
    private let bytesRead = Atomic(0)

    var count: Int { source.count }

    /// - Parameter passes: how many times the command reads the whole of `source`.
    init(_ source: any ByteSource, passes: Int) {
        self.source = source
        bar = ProgressBar(total: source.count, unit: .bytes, passes: passes)
    }

    func read(into buffer: inout MutableSpan<UInt8>, at offset: Int) throws(StreamError) -> Int {
        let count = try source.read(into: &buffer, at: offset)
        bar.advance(to: bytesRead.add(count, ordering: .relaxed).newValue)
        return count
    }

    func checkUnchanged() throws(StreamError) { try source.checkUnchanged() }
}
