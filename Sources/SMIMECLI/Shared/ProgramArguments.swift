import Foundation
import MailFilter

/// The words of the command line, with the name of the program in front: those of this process, or of the supervisor for which it
/// works.
enum ProgramArguments {
    /// The words as bytes, which may be no UTF-8.
    static let words: [[UInt8]] =
        FilterWorker.current?.arguments
        ?? (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }

    /// The words as text, in which what is no UTF-8 is replaced.
    static let current = words.map { String(decoding: $0, as: UTF8.self) }
}
