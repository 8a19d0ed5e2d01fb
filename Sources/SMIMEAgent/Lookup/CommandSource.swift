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
        try answer.collect(addresses.filter { !$0.isDomain }, isOneServer: false, until: deadline) {
            scope,
            answer throws(DiscoveryOutage) in
            guard let output = try program.output(about: scope.key, until: deadline) else { return }
            let (certificates, isComplete) = KeyMaterial.certificates(in: output)
            guard !certificates.isEmpty else {
                let reason =
                    isComplete ? "the program prints no certificate" : "the program's output is not a certificate"
                // Others may have added data that cannot be read, so that mail would be sent in clear. They cannot remove a
                // certificate.
                throw DiscoveryOutage(reason, holdsMail: !isComplete)
            }
            if !isComplete {
                answer.warnings.append("\(path): a part of the output that is not a certificate was ignored")
                // This part may be the only certificate that is usable for the address.
                answer.outages[scope] = SourceOutage("a part of the output is not a certificate", holdsMail: true)
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
