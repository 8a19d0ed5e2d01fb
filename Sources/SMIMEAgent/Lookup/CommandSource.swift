import CertificateDiscovery
import Foundation
import PKIX
package import SMIMEStore

/// The program of the setting `lookup.command` as a source of certificates. The program is not called for whole domains.
package struct CommandSource: RemoteSource {
    /// The absolute path of the program.
    package let path: String
    package let timeLimit: Duration
    /// `command`
    package var kind: KnownRecipient.Source { .command }
    package var identity: String { path }

    package init(path: String, timeLimit: Duration) {
        self.path = path
        self.timeLimit = timeLimit
    }

    package func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        let program = LookupProgram(path: path)
        var answer = SourceAnswer()
        try answer.collect(addresses.filter { !$0.isDomain }, isOneServer: false) {
            scope,
            answer throws(DiscoveryOutage) in
            guard let output = try program.output(about: scope.key, until: deadline) else { return }
            let (certificates, isComplete) = KeyMaterial.certificates(in: output)
            guard !certificates.isEmpty else {
                let reason =
                    isComplete ? "the program prints no certificate" : "the program's output is not a certificate"
                throw DiscoveryOutage(reason, holdsMail: true)
            }
            if !isComplete {
                answer.warnings.append("\(path): a part of the output that is not a certificate was ignored")
            }
            answer.add(certificates, for: scope, from: kind, at: path)
        }
        return answer
    }

    /// The path of the program.
    ///
    /// - Throws: `SourceOutage` if the program cannot be run.
    package func state() throws(SourceOutage) -> String {
        guard access(path, X_OK) == 0 else { throw SourceOutage("\(path): \(String(cString: strerror(errno)))") }
        return path
    }
}

extension SourceAnswer {
    /// The outage of an address whose answer arrived in time, but takes too long to read.
    static let readingTooLong = DiscoveryOutage(
        "its answer about the address takes too long to read",
        holdsMail: true
    )

    /// Calls `question` for each of `addresses` until the time limit is exceeded, and records outages. The addresses
    /// after that have an outage, too.
    ///
    /// - Parameter isOneServer: whether all addresses are looked up at one server.
    /// - Throws: `SourceOutage` if there is one server, and it exceeded the time limit before it answered about any
    ///   address.
    mutating func collect(
        _ addresses: [AddressScope],
        isOneServer: Bool,
        _ question: (AddressScope, inout SourceAnswer) throws(DiscoveryOutage) -> Void
    ) throws(SourceOutage) {
        var isOver = false
        var hasAnswered = false
        for address in addresses {
            guard !isOver else {
                outages[address] = SourceOutage(DiscoveryOutage.timeLimit.reason)
                continue
            }
            do throws(DiscoveryOutage) {
                try question(address, &self)
                hasAnswered = true
            } catch {
                if error == .timeLimit, !hasAnswered, isOneServer { throw SourceOutage(error.reason) }
                let isTooLong = error == Self.readingTooLong
                isOver = error == .timeLimit || isTooLong
                if isTooLong || isOver && !hasAnswered { late.insert(address) }
                outages[address] = SourceOutage(error.reason, holdsMail: error.holdsMail)
            }
        }
    }
}
