import Foundation

extension CommandLine {
    /// The arguments as bytes: an argument that is not UTF-8 may still be a file name.
    static var bytes: [[UInt8]] {
        (0..<Int(argc)).compactMap { index in
            unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }
}
