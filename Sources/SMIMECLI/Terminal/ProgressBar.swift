import ByteStreams
import Foundation

/// A bar on standard error, if that is a terminal and the work takes over a second; drawn at most a hundred times.
final class ProgressBar {
    private let total: Int
    private let start = ContinuousClock.now
    private let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessEnvironment["TERM"] != "dumb"
    private var isShown = false
    private var percent = 0

    init(total: Int) { self.total = total }

    func advance(to done: Int) {
        guard isTerminal, total > 1, done * 100 / total > percent else { return }
        let time = ContinuousClock.now - start
        guard time > .seconds(1) else { return }
        percent = done * 100 / total
        isShown = true
        let line = Progress(done: done, total: total, seconds: Double(time.components.seconds)).line
        write("\r\(line.prefix((Terminal.width(STDERR_FILENO) ?? 80) - 1))\u{1B}[K")
    }

    func clear() { if isShown { write("\r\u{1B}[K") } }

    private func write(_ text: String) {
        let sink = DescriptorSink(STDERR_FILENO)
        try? sink.write(text)
        try? sink.flush()
    }
}

/// How far work of many pieces is.
struct Progress {
    let done: Int
    /// More than none.
    let total: Int
    /// The time that `done` took; more than none.
    let seconds: Double

    /// The bar, the percentage, the pieces in a second, and the time that is left at that rate.
    var line: String {
        let filled = min(Self.width, done * Self.width / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let rate = Double(done) / seconds
        let shownRate = rate < 10 ? String(format: "%.1f", rate) : String(Int(rate))
        let left = rate > 0 ? Int(Double(max(0, total - done)) / rate) : 0
        let time = String(format: "%d:%02d", left / 60, left % 60)
        return "[\(bar)] \(done * 100 / total)%  \(done)/\(total)  \(shownRate)/s  \(time) left"
    }

    /// The characters of the bar.
    private static let width = 30
}
