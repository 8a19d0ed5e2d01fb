package import CertificateDiscovery
import PKIX
package import SMIMEStore

/// The directory of the setting `lookup.ldap` as a source of certificates. The directory is not searched for whole domains.
package struct LDAPSource: RemoteSource {
    package let directory: LDAPDirectory
    package let timeLimit: Duration
    /// The URL as the setting gives it.
    private let url: String
    /// `ldap`
    package var kind: KnownRecipient.Source { .ldap }
    package var identity: String { "\(url) \(directory.credentials?.name ?? "")" }

    package init(_ directory: LDAPDirectory, url: String, timeLimit: Duration) {
        self.directory = directory
        self.url = url
        self.timeLimit = timeLimit
    }

    package func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        var answer = SourceAnswer()
        let people = addresses.filter { !$0.isDomain }
        guard !people.isEmpty else { return answer }
        var session = try session(until: deadline)
        try answer.collect(people, isOneServer: true, until: deadline) { scope, answer throws(DiscoveryOutage) in
            let found = try session.answer(about: scope.key)
            if !found.isComplete {
                answer.outages[scope] = SourceOutage(
                    "it has more entries or certificates for the address than are read",
                    holdsMail: true
                )
            }
            let (certificates, isComplete) = try read(found.values, until: deadline)
            if !isComplete {
                // The value may be the only certificate that is usable for the address.
                answer.add(.fault("it has a value for the address that is not a certificate"), for: scope)
            }
            answer.add(certificates, for: scope, from: kind, at: directory.url.server)
        }
        return answer
    }

    /// The certificates in the values of an answer about one address. The answer may take longer to read than to receive.
    ///
    /// - Returns: the certificates, and whether all values can be read.
    /// - Throws: `DiscoveryOutage.readingTooLong`
    private func read(
        _ values: [[UInt8]],
        until deadline: ContinuousClock.Instant
    ) throws(DiscoveryOutage) -> (certificates: [Certificate], isComplete: Bool) {
        var certificates: [Certificate] = []
        var isComplete = true
        for value in values {
            guard .now < deadline else { throw .readingTooLong }
            let (found, isWhole) = KeyMaterial.certificates(in: value)
            certificates += found
            isComplete = isComplete && isWhole
        }
        return (certificates, isComplete)
    }

    /// The server's name.
    ///
    /// - Throws: `SourceOutage` if the server does not answer.
    package func state() throws(SourceOutage) -> String {
        let deadline = ContinuousClock.now + timeLimit
        var session = try session(until: deadline)
        do throws(DiscoveryOutage) { _ = try session.answer(about: "postmaster@invalid") } catch {
            throw SourceOutage(error.reason)
        }
        return directory.url.server
    }

    private func session(until deadline: ContinuousClock.Instant) throws(SourceOutage) -> LDAPSession {
        do throws(DiscoveryOutage) { return try LDAPSession(directory, until: deadline) } catch {
            throw SourceOutage(error.reason, holdsMail: error.holdsMail)
        }
    }
}
