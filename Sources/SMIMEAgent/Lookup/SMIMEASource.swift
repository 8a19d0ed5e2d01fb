package import CertificateDiscovery
import InternetMessage
import PKIX
package import SMIMEStore

/// SMIMEA records as a source of certificates (RFC 8162), including records for a whole domain. Records that DNSSEC does
/// not authenticate are ignored.
package struct SMIMEASource: RemoteSource {
    package let resolver: SecureResolver
    package let timeLimit: Duration
    /// `smimea`
    package var kind: KnownRecipient.Source { .smimea }
    package var knowsDomains: Bool { true }
    package var identity: String { "\(resolver.resolver ?? "") \(resolver.anchors ?? "")" }

    package init(_ resolver: SecureResolver, timeLimit: Duration) {
        self.resolver = resolver
        self.timeLimit = timeLimit
    }

    package func search(
        for addresses: [AddressScope],
        until deadline: ContinuousClock.Instant
    ) throws(SourceOutage) -> SourceAnswer {
        var questions: [(scope: AddressScope, name: String)] = []
        for scope in addresses { questions += try Self.names(of: scope).map { (scope, $0) } }
        let found: [SecureResolver.Answer]
        // A fifth of the time is kept for reading the records, because one silent name server can use up the rest.
        let start = ContinuousClock.now
        let end = start + (deadline - start) * 4 / 5
        // A name without an answer in time is no outage of the source: anyone can have a domain whose name servers are silent.
        do throws(DiscoveryOutage) {
            found = try resolver.answers(about: questions.map(\.name), until: end)
        } catch { throw SourceOutage(error.reason, holdsMail: error.holdsMail) }
        return answer(from: zip(questions, found).map { ($0.scope, $1) }) { ContinuousClock.now < deadline }
    }

    /// The certificates in `results`. Results with the fewest records are read first, because anyone can have a domain with so
    /// many records that the time does not suffice. An address whose records are not read is recorded as `unasked`.
    ///
    /// - Parameter hasTime: whether there is time to read another result.
    package func answer(
        from results: [(scope: AddressScope, result: SecureResolver.Answer)],
        while hasTime: () -> Bool
    ) -> SourceAnswer {
        var answer = SourceAnswer()
        let order = results.indices.sorted {
            (results[$0].result.recordCount, $0) < (results[$1].result.recordCount, $1)
        }
        for index in order {
            let (scope, result) = results[index]
            if result.recordCount == 0 || hasTime() {
                add(result, for: scope, to: &answer)
            } else {
                answer.add(.noTurn, for: scope)
            }
        }
        answer.removeForWholeDomains()
        return answer
    }

    /// Which trust anchors of DNSSEC are used.
    ///
    /// - Throws: `SourceOutage` if they cannot be read.
    package func state() throws(SourceOutage) -> String {
        do throws(DiscoveryOutage) { return "DNSSEC by \(try resolver.anchorFile())" } catch {
            throw SourceOutage(error.reason)
        }
    }

    /// The DNS names for an address: with the local part as written, and in lower case; for a whole domain, the
    /// wildcard name.
    private static func names(of scope: AddressScope) throws(SourceOutage) -> [String] {
        guard let address = scope.address else { return [SMIMEAName.wildcard(String(scope.key.dropFirst()))] }
        let folded = String(address.key.dropLast(address.asciiDomain.count + 1))
        do {
            return try Set([address.localPart, folded]).sorted().map {
                try SMIMEAName.name(of: $0, at: address.asciiDomain)
            }
        } catch { throw SourceOutage("\(error)") }
    }

    private func add(_ result: SecureResolver.Answer, for scope: AddressScope, to answer: inout SourceAnswer) {
        switch result {
        case .outage(let outage): answer.add(outage, for: scope)
        case .none(let lifetime): answer.limitLifetime(of: scope, to: lifetime)
        case .unsigned: answer.warnings.append("SMIMEA: records in a zone without DNSSEC were left out")
        case .records(let records, let lifetime):
            answer.limitLifetime(of: scope, to: lifetime)
            var certificates: [Certificate] = []
            var hasUnreadable = false
            for data in records {
                do throws(SMIMEAData.Defect) {
                    let record = try SMIMEAData(data)
                    let read = try? Certificate(der: record.certificate)
                    guard let certificate = read, certificate.isCertificateAuthority == record.usage.isAuthority else {
                        hasUnreadable = hasUnreadable || read == nil
                        answer.warnings.append(
                            "SMIMEA: a record was left out: its certificate is unreadable, or does not fit its usage field"
                        )
                        continue
                    }
                    certificates.append(certificate)
                } catch { answer.warnings.append("SMIMEA: a record was left out: \(error)") }
            }
            if hasUnreadable {
                // The record may be the only one that is usable for the address.
                answer.add(.fault("it has a certificate for the address that cannot be read"), for: scope)
            }
            answer.add(certificates, for: scope, from: kind, at: "SMIMEA")
        }
    }
}

extension SecureResolver.Answer {
    fileprivate var recordCount: Int { if case .records(let records, _) = self { records.count } else { 0 } }
}

extension SourceAnswer {
    fileprivate mutating func limitLifetime(of scope: AddressScope, to lifetime: Duration) {
        lifetimes[scope] = min(lifetimes[scope] ?? lifetime, lifetime)
    }

    /// Removes the certificates that belong to a whole domain from the answers about addresses. DNS may answer a missing name
    /// with the domain's wildcard record, so a certificate belongs to the domain if it does not name the address and was also
    /// found for the domain.
    fileprivate mutating func removeForWholeDomains() {
        let shared = Set(found.filter(\.address.isDomain).map(\.certificate))
        found.removeAll { !$0.address.isDomain && shared.contains($0.certificate) && !$0.certificate.names($0.address) }
    }
}
