import ArgumentParser
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.RecipientCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List every address and the certificate used to encrypt mail to it.",
            discussion: """
                  smime recipient list
                  smime recipient list --json
                """
        )

        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        /// How many addresses are judged at a time. Only the certificates of these addresses are in memory.
        private static let pageSize = 1000

        func run() async throws {
            let store = try await global.store(.readOnly)
            store.noteIfMissing()
            let lookup = try await store.lookup(
                systemAnchors: anchors.systemAnchors,
                lists: FolderLists(warn: Console.warning)
            )
            var addresses = try await store.recipients.addresses()[...]
            var (list, table, warnings) = (report.json ? ReportList("recipients") : nil, TextTable(), Set<String>())
            while !addresses.isEmpty {
                let answer = try await lookup.overviews(of: Array(addresses.prefix(Self.pageSize)), at: time.date)
                addresses = addresses.dropFirst(Self.pageSize)
                for warning in answer.warnings where warnings.insert(warning).inserted { Console.warning(warning) }
                for overview in answer.overviews where !overview.candidates.isEmpty {
                    if list == nil { Self.add(overview, to: &table) }
                    try list?.add(RecipientReport(overview))
                }
            }
            table.wrapsLast = true
            if list == nil { try Console.print(table.text) }
            try list?.finish()
        }

        private static func add(_ overview: RecipientOverview, to table: inout TextTable) {
            defer {
                for (entry, reason) in overview.candidates where reason == .held {
                    table.add(entry.address.text, "held back", entry.fingerprint.short)
                }
            }
            guard let selected = overview.selected else {
                let reason = overview.candidates.first.map { "\($0.reason)" } ?? ""
                return table.add(overview.address.text, "unusable", reason)
            }
            table.add(overview.address.text, "until \(selected.notAfter.day)", selected.fingerprint.short)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show every certificate known for an address, which certificate is used, and why.",
            discussion: """
                Also shows the certificates of the address's domain, and certificates from other sources (see `smime \
                config`). The answers of these sources are kept for some time; --refresh asks the sources again.

                  smime recipient show bob@example.org
                  smime recipient show bob@example.org --refresh
                  smime recipient show bob@example.org --json
                """
        )

        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        @Flag(help: "Ask the other sources again, even if the store still has their answers.")
        var refresh = false
        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            var lookup = try await store.lookup(
                systemAnchors: anchors.systemAnchors,
                lists: FolderLists(warn: Console.warning)
            )
            lookup.ignoresCachedAnswers = refresh
            let answer = try await lookup.choices(for: [address], at: time.date, asking: .everything)
            answer.warnings.forEach(Console.warning)
            guard let choice = answer.choices.first, !choice.candidates.isEmpty else {
                // If a source cannot be reached, it is unknown whether there is a certificate.
                guard answer.choices.allSatisfy(\.outages.isEmpty) else {
                    throw Failure(
                        .unavailable,
                        "\(address): no certificate is known, and a source could not be asked",
                        hints: ["`smime doctor` shows the state of the sources"]
                    )
                }
                throw KeystoreError.unknownRecipient(address)
            }
            var chains: [String] = []
            if !report.json {
                for candidate in choice.candidates {
                    chains.append(try await ChainText(of: candidate.0.certificate, in: store).text)
                }
            }
            try report.print(RecipientReport(RecipientOverview(choice))) {
                var table = TextTable()
                for (recipient, reason) in choice.candidates {
                    let certificate = recipient.certificate
                    table.add(
                        reason.isSelected ? "*" : " ",
                        "\(certificate.notBefore.day) to \(certificate.notAfter.day)",
                        recipient.source.rawValue,
                        recipient.trust.rawValue,
                        "\(reason)"
                    )
                }
                return choice.address.text.escapedForDisplay + "\n" + table.text(between: chains)
            }
        }
    }
}

/// The certificates of one address in reports.
struct RecipientReport: Encodable {
    struct CertificateLine: Encodable {
        let fingerprint: Fingerprint
        /// The address or domain for which the certificate is known.
        let address: String
        let selected: Bool
        let reason: String
        let trust: String
        let source: String
        let sourceDetail: String?
        let firstSeen: Date
        let lastSeen: Date
        /// The algorithms that the owner announced, in the owner's order of preference, each name once.
        let capabilities: [String]
        /// When the owner announced the algorithms; nil if unknown.
        let capabilitiesTime: Date?
        let subject: String
        let issuer: String
        let addresses: [String]
        let notBefore: Date
        let notAfter: Date
    }

    let address: String
    let certificates: [CertificateLine]

    init(_ overview: RecipientOverview) {
        address = overview.address.text
        certificates = overview.candidates.map { entry, reason in
            let capabilities = entry.capabilities.flatMap { try? SMIMECapability.list($0) } ?? []
            return CertificateLine(
                fingerprint: entry.fingerprint,
                address: entry.address.text,
                selected: reason.isSelected,
                reason: reason.rawValue,
                trust: entry.trust.rawValue,
                source: entry.source.rawValue,
                sourceDetail: entry.sourceDetail,
                firstSeen: entry.firstSeen,
                lastSeen: entry.lastSeen,
                capabilities: SMIMECapability.names(of: capabilities),
                capabilitiesTime: entry.capabilitiesTime,
                subject: entry.subject,
                issuer: entry.issuer,
                addresses: entry.addresses,
                notBefore: entry.notBefore,
                notAfter: entry.notAfter
            )
        }
    }
}
