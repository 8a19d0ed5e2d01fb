import ByteStreams
import Foundation
import SMIMEAgent
import SMIMEStore

/// The target of one output: a file, which appears only when it is complete, or standard output.
enum Output {
    /// Whether `path` names standard output.
    static func isStandard(_ path: String) -> Bool {
        ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
    }

    /// Lets `body` write an output. A file appears only if nothing failed.
    ///
    /// - Parameters:
    ///   - isPrivate: whether only the owner may read a new file.
    ///   - isReport: whether the output is text for a pager. If the pager stops reading, no error is reported.
    static func write(
        to path: String?,
        isPrivate: Bool = false,
        isReport: Bool = false,
        _ body: (any ByteSink) throws -> Void
    ) throws {
        guard let path else {
            ProgressBar.hide()
            let sink = DescriptorSink.standardOutput()
            do {
                try body(sink)
                try sink.flush()
            } catch StreamError.writeFailed(let code) {
                var failure = Failure(
                    .inputOutput,
                    "standard output: cannot write: \(String(cString: strerror(code)))"
                )
                failure.isReported = isReport && code == EPIPE
                throw failure
            }
            return
        }
        let file = try OutputFile(path: path, isPrivate: isPrivate)
        do {
            try body(file)
            try file.commit()
        } catch StreamError.writeFailed(let code) {
            throw Failure(.inputOutput, "\(path): cannot write: \(String(cString: strerror(code)))")
        }
    }
}
