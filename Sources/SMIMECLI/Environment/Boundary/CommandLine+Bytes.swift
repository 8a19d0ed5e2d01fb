import Foundation

extension CommandLine {
    /// The arguments byte by byte: those that are no UTF-8 are file names all the same.
    static var bytes: [[UInt8]] {
        (0..<Int(argc)).compactMap { index in
            unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }
}
