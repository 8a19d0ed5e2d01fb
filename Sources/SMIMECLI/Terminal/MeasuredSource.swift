import ByteStreams
import Foundation
import Synchronization

/// A large input of a command that reads it several times; a bar shows how far the command is.
final class MeasuredSource: ByteSource {
    /// The bytes from which on an input is large.
    static let least = 50_000_000

    private let source: any ByteSource
    private let bar: ProgressBar
    private let bytesRead = Atomic(0)

    var count: Int { source.count }

    /// - Parameter passes: how often the command reads all of `source`.
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
