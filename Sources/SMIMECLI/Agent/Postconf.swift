import ByteStreams
import Foundation
import SMIMEGateway

/// Runs postconf(1), the program that prints Postfix's configuration.
enum Postconf {
    /// The output of postconf with `arguments`.
    static func run(_ arguments: [String]) throws -> String {
        let path = ProcessEnvironment["PATH"] ?? ""
        let candidates = (path.split(separator: ":").map(String.init) + ["/usr/sbin"]).map { "\($0)/postconf" }
        guard let program = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw Failure(.noInput, "postconf: not found")
        }
        let output = try SpooledFile { _ in }
        let child = ChildProgram(path: program, words: ["postconf"] + arguments, standardOutput: output.descriptor)
        guard try child.run() == .exited(0) else { throw Failure(.noInput, "\(program): failed") }
        let source = try output.rewound()
        return String(decoding: try source.bytes(in: 0..<min(source.count, 1 << 20)), as: UTF8.self)
    }
}
