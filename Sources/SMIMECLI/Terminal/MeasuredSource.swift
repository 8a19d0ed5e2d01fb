import ByteStreams
import Foundation
import Synchronization

/// A large input of a command that reads the input several times. A progress bar shows how much was read.
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
