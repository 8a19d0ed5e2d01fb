import Foundation
import LibCrypto

/// Runs the program that prints the key which seals the store key.
package struct KeyProgram {
    /// How long the program may run.
    package static let timeout = Duration.seconds(10)
    /// The maximum length of the program's output in bytes. A key is far shorter.
    private static let maximumCount = 4096

    private let path: String

    package init(path: String) { self.path = path }

    /// The program's standard output. Its standard error is shown to the user.
    ///
    /// - Throws: `.cannotOpen` if the program cannot be run, fails, prints too much, or runs too long.
    package func output(within limit: Duration = timeout) throws(KeystoreError) -> [UInt8] {
        let program = BoundedProgram(path, maximumCount: Self.maximumCount, showsErrors: true)
        var result: (status: Int32, output: [UInt8])
        do { result = try program.run(until: .now + limit) } catch { throw failure(Self.sentence(error, limit)) }
        guard result.status == 0 else {
            result.output.wipe()
            throw failure("printed no key: it ended with \(result.status)")
        }
        return result.output
    }

    private static func sentence(_ failure: BoundedProgram.Failure, _ limit: Duration) -> String {
        switch failure {
        case .notStarted(let code): "cannot be run: \(String(cString: strerror(code)))"
        case .timeLimit: "took longer than \(limit.components.seconds) seconds"
        case .printsTooMuch: "prints more than a key"
        case .signalled(let signal): "was ended by signal \(signal)"
        case .lost: "was lost"
        }
    }

    private func failure(_ why: String) -> KeystoreError {
        .cannotOpen(path: path, reason: "the program of the key \(why)")
    }
}
