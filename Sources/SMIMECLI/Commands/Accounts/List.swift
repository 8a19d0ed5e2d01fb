import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List identities and recipients in order of expiry.",
            discussion: """
                --expiring suits a cron job: the status is 1 if, after the given time, an account will have no valid \
                identity for signing or none for encryption, or a recipient no valid certificate. Certificates with a \
                successor are not listed.

                With --expiring, a recipient whose certificate has expired stays listed for the given time after the \
                expiry, and an account until it has a new identity or is removed.

                  smime list
                  smime list --expiring 30d
                  smime list --expiring 8w --json
                """
        )

        @Option(
            help: ArgumentHelp(
                """
                List only certificates without a successor: those that expire within a time such as 30d, and revoked \
                ones of accounts.
                """,
                valueName: "time"
            ),
            transform: TimeOptions.interval
        )
        var expiring: TimeInterval?
        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            // Monitoring must notice a missing store, for example if its disk is not mounted.
            if expiring != nil, !store.exists, store.location.home != nil { throw try global.missingStore }
            store.noteIfMissing()
            let listed = (identities: try await identities(in: store), recipients: try await recipients(in: store))
            try report.print(
                ListReport(
                    identities: listed.identities.map { OwnedCertificateReport(identity: $0) },
                    recipients: listed.recipients.map { OwnedCertificateReport(recipient: $0) }
                )
            ) {
                timeline(listed.identities.map { ("identity", $0) } + listed.recipients.map { ("recipient", $0) })
            }
            if expiring != nil, !listed.identities.isEmpty || !listed.recipients.isEmpty { throw ExitStatus.negative }
        }

        /// The certificates in the order of their expiry, soonest first.
        private func timeline(_ entries: [(kind: String, certificate: ListedCertificate)]) -> String {
            var table = TextTable()
            for (kind, entry) in entries.sorted(by: { $0.certificate.notAfter < $1.certificate.notAfter }) {
                table.add(
                    "\(entry.notAfter < time.date ? "expired" : "until") \(entry.notAfter.day)",
                    entry.notAfter.distance(from: time.date),
                    entry.isRevoked ? "revoked \(kind)" : kind,
                    entry.address.text,
                    entry.fingerprint.short
                )
            }
            return table.text
        }

        private func identities(in store: Store) async throws -> [ListedCertificate] {
            let accounts = try await store.accounts.all()
            let verdicts = try await store.verdicts(on: accounts, at: time.date)
            return accounts.flatMap { account in
                let all = account.identities.map(\.certificate)
                let ending = expiring.map { interval in
                    let lapsing = account.lapsing(from: time.date, within: interval, verdicts: verdicts)
                    let revoked = account.revokedCertificates(at: time.date, verdicts: verdicts)
                    return all.filter { lapsing.contains($0) || revoked.contains($0) }
                }
                return (ending ?? all).map { certificate in
                    var listed = ListedCertificate(AddressScope(account.address), certificate)
                    listed.isRevoked = verdicts.isRevoked(certificate)
                    return listed
                }
            }
        }

        private func recipients(in store: Store) async throws -> [ListedCertificate] {
            let recipients = try await store.recipients.map { recipient in
                recipient.source == .identity ? nil : ListedCertificate(recipient.address, recipient.certificate)
            }
            guard let expiring else { return recipients }
            let last = try await store.recipientExpiry(around: time.date, within: expiring)
            return recipients.filter { last[$0.address] == $0.notAfter }
        }
    }
}

private struct ListReport: Encodable {
    let identities: [OwnedCertificateReport]
    let recipients: [OwnedCertificateReport]
}

extension Date {
    /// The distance from `time`, in the largest unit in which the number is at least two: `in 6 weeks`, `3 years ago`;
    /// for less than two days, `in 1 day`, `1 day ago` or `today`.
    fileprivate func distance(from time: Date) -> String {
        let days = Int((timeIntervalSince(time) / 86_400).rounded(.towardZero))
        let units = [(365, "years"), (30, "months"), (7, "weeks")]
        let (size, name) = units.first { abs(days) >= 2 * $0.0 } ?? (1, abs(days) == 1 ? "day" : "days")
        guard days != 0 else { return "today" }
        return days > 0 ? "in \(days / size) \(name)" : "\(-days / size) \(name) ago"
    }
}
