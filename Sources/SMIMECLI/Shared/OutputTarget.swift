import Foundation
import Streams

/// Where a verb's data goes: the file after `-o`, or standard output.
enum OutputTarget {
    /// Writes `bytes` whole or not at all; `-` is standard output.
    ///
    /// - Throws: `Failure` with status 64 if it would put bytes that are no text on a terminal.
    static func write(_ bytes: [UInt8], to path: String?, isPrivate: Bool, isText: Bool = false) throws {
        guard let path, path != "-" else {
            guard isText || isatty(STDOUT_FILENO) != 1 else {
                throw Failure(.usage, "the output is no text for a terminal", hints: ["give a file with -o"])
            }
            let sink = DescriptorSink.standardOutput()
            try sink.write(bytes)
            return try sink.flush()
        }
        let file = try OutputFile(path: path, isPrivate: isPrivate)
        try file.write(bytes)
        try file.commit()
    }
}
