import Foundation
import LibCrypto

/// A program that prints the certificates of one address.
///
/// The program gets the address as its only argument. Its standard error is discarded. `BoundedProgram` describes the rest of
/// its environment.
package struct LookupProgram: Sendable {
    /// The maximum size of the program's output in bytes.
    package static let maximumOutput = 1 << 18

    /// The exit statuses of the program that have a meaning.
    private enum Status {
        static let found: Int32 = 0
        static let none: Int32 = 1
        static let tryLater: Int32 = 75
    }

    /// The absolute path of the program's file.
    package let path: String

    package init(path: String) { self.path = path }

    /// The program's output for `address`; nil if the program ends with status 1, which means that there are no certificates.
    ///
    /// - Throws: `DiscoveryOutage` if the program cannot be run, takes too long, prints too much, or ends with another
    ///   status.
    package func output(
        about address: String,
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> [UInt8]? {
        let program = BoundedProgram(path, [address], maximumCount: Self.maximumOutput)
        let result: (status: Int32, output: [UInt8])
        do { result = try program.run(until: deadline) } catch { throw Self.outage(error) }
        switch result.status {
        case Status.found: return result.output
        case Status.none: return nil
        case Status.tryLater: throw DiscoveryOutage("the program says: try later")
        case let status: throw .fault("the program ended with status \(status)")
        }
    }

    private static func outage(_ failure: BoundedProgram.Failure) -> DiscoveryOutage {
        switch failure {
        case .notStarted(let code): .fault("the program cannot be started: \(String(cString: strerror(code)))")
        case .timeLimit: .timeLimit
        case .printsTooMuch: DiscoveryOutage("the program prints too much", holdsMail: true)
        case .signalled(let signal): .fault("the program was ended by signal \(signal)")
        case .lost: .fault("the system did not report how the program ended")
        }
    }
}
