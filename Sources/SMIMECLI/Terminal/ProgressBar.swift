import ByteStreams
import Foundation
import Synchronization

/// A bar on standard error, if that is a terminal and the work takes over a second; drawn at most a hundred times.
final class ProgressBar: Sendable {
    /// Whether standard error is a terminal that can draw over a line.
    static var isPossible: Bool { isatty(STDERR_FILENO) == 1 && ProcessEnvironment["TERM"] != "dumb" }

    /// What was drawn last, and what the rate is computed from.
    private struct State {
        var percent = 0
        /// The progress at the last two moments of measuring; the rate is computed since the earlier one.
        var marks: (earlier: Mark, later: Mark)
        var isOver = false
    }

    private struct Mark {
        let time: ContinuousClock.Instant
        let done: Int
    }

    /// Whether a bar is on the terminal's line. No command shows two.
    private static let isShown = Mutex(false)

    private let total: Int
    private let unit: Progress.Unit
    private let passes: Int
    private let start = ContinuousClock.now
    private let isTerminal = ProgressBar.isPossible
    private let state: Mutex<State>

    /// - Parameter passes: how often each of `total` is worked on, and counted.
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

    /// Takes the bar away for good.
    func clear() {
        state.withLock { $0.isOver = true }
        Self.hide()
    }

    /// Takes away the bar that is shown, if there is one: what the command says next begins at the margin.
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

/// How far the work is.
struct Progress {
    /// What is counted.
    enum Unit {
        case bytes, pieces
    }

    let done: Int
    /// At least one.
    let total: Int
    /// What was done in the last `seconds`.
    let recent: Int
    /// More than zero.
    let seconds: Double
    let unit: Unit

    /// The bar, the percentage, what is done of how much, the rate, and the time that is left at that rate.
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

    /// The characters of the bar.
    private static let width = 30
}
