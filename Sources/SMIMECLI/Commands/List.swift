import ArgumentParser
import CMS
import Foundation
import Keystore

extension SMIMECommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List identities and recipients with the day they expire.",
            discussion: """
                With --expiring the status is 1 if anything expires within that time: put it into a cron job.

                  smime list --expiring 30d
                """
        )

        @Option(
            help: ArgumentHelp("Only what expires within this time: 12h, 30d, 8w, 1y.", valueName: "time"),
            transform: Self.interval
        )
        var expiring: TimeInterval?
        @OptionGroup var time: TimeOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            store.noteIfMissing()
            let identities = try await store.accounts.all().flatMap { account in
                account.identities.map { ListedCertificate(AddressScope(account.address), $0.certificate) }
            }
            let recipients = try await store.recipients.map { recipient in
                recipient.source == .identity ? nil : ListedCertificate(recipient.address, recipient.certificate)
            }
            let listed = (identities: selected(identities), recipients: selected(recipients))
            try report.print(
                ListReport(
                    identities: listed.identities.map { IdentityReport($0) },
                    recipients: listed.recipients.map { RecipientEntryReport($0) }
                )
            ) {
                var table = TextTable()
                for (kind, certificates) in [("identity", listed.identities), ("recipient", listed.recipients)] {
                    for entry in certificates {
                        let state = entry.notAfter < time.date ? "expired" : "until"
                        table.add(
                            kind,
                            entry.address.text,
                            "\(state) \(entry.notAfter.day)",
                            "\(entry.fingerprint)"
                        )
                    }
                }
                return table.text
            }
            if expiring != nil, !listed.identities.isEmpty || !listed.recipients.isEmpty { throw ExitStatus.negative }
        }

        /// What `--expiring` is about: certificates that end within the time, and those that have ended unless another
        /// one of the same address is valid. Old ones are kept on purpose and need no attention.
        private func selected(_ certificates: [ListedCertificate]) -> [ListedCertificate] {
            guard let expiring else { return certificates }
            let now = time.date
            let valid = Set(certificates.filter { $0.notBefore <= now && now <= $0.notAfter }.map(\.address))
            return certificates.filter { entry in
                let end = entry.notAfter
                return end <= now.addingTimeInterval(expiring) && (end >= now || !valid.contains(entry.address))
            }
        }

        private static func interval(_ text: String) throws -> TimeInterval {
            let units: [Character: Double] = ["h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600]
            guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), number.isFinite,
                number >= 0, number <= 1_000_000
            else { throw ValidationError("'\(text)' is no time like 12h, 30d, 8w or 1y") }
            return number * unit
        }
    }
}

/// What is listed of a certificate; of thousands no more than that is held.
struct ListedCertificate: Sendable {
    let address: AddressScope
    let addresses: [String]
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date

    init(_ address: AddressScope, _ certificate: Certificate) {
        self.address = address
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }
}

private struct ListReport: Encodable {
    let identities: [IdentityReport]
    let recipients: [RecipientEntryReport]
}
