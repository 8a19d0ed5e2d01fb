import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME
import MailFilter

extension SMIMECommand.RecipientCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List every address and the certificate it would be encrypted to.",
            discussion: "  smime recipient list"
        )

        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        /// How many addresses are judged at a time; of a large registry no more is held.
        private static let pageSize = 250

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
                let answer = try await lookup.choices(for: Array(addresses.prefix(Self.pageSize)), at: time.date)
                addresses = addresses.dropFirst(Self.pageSize)
                for warning in answer.warnings where warnings.insert(warning).inserted { Console.warning(warning) }
                for choice in answer.choices where !choice.candidates.isEmpty {
                    if list == nil { Self.add(choice, to: &table) }
                    try list?.add(RecipientReport(choice))
                }
            }
            if list == nil { try Console.print(table.text) }
            try list?.finish()
        }

        private static func add(_ choice: RecipientChoice, to table: inout TextTable) {
            defer {
                for (recipient, reason) in choice.candidates where reason == .held {
                    table.add(recipient.address.text, "held back", "\(recipient.certificate.fingerprint)")
                }
            }
            guard let selected = choice.selected else {
                return table.add(choice.address.text, choice.candidates.first.map { "unusable: \($0.reason)" } ?? "")
            }
            table.add(
                choice.address.text,
                "until \(selected.certificate.notAfter.day)",
                "\(selected.certificate.fingerprint)"
            )
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show every certificate known for an address, and why which one is used.",
            discussion: """
                For an address those of its domain are shown, too, and what the other sources have (see `smime config`).

                  smime recipient show bob@example.org
                """
        )

        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let lookup = try await global.store(.readOnly).lookup(
                systemAnchors: anchors.systemAnchors,
                lists: FolderLists(warn: Console.warning)
            )
            let answer = try await lookup.choices(for: [address], at: time.date, asking: .everything)
            answer.warnings.forEach(Console.warning)
            guard let choice = answer.choices.first, !choice.candidates.isEmpty else {
                throw KeystoreError.unknownRecipient(address)
            }
            try report.print(RecipientReport(choice)) {
                var table = TextTable()
                for (recipient, reason) in choice.candidates {
                    let certificate = recipient.certificate
                    table.add(
                        reason.isSelected ? "*" : " ",
                        "\(certificate.notBefore.day) to \(certificate.notAfter.day)",
                        "\(certificate.fingerprint)",
                        recipient.source.rawValue,
                        recipient.trust.rawValue,
                        "\(reason)"
                    )
                }
                return choice.address.text.escapedForDisplay + "\n" + table.text
            }
        }
    }
}

/// What is known for one address, as reports show it.
struct RecipientReport: Encodable {
    struct CertificateLine: Encodable {
        let fingerprint: Fingerprint
        /// The address it is known for, or its domain.
        let address: String
        let selected: Bool
        let reason: String
        let trust: String
        let source: String
        let sourceDetail: String?
        let firstSeen: Date
        let lastSeen: Date
        /// What its owner announced to read, best first, each name once.
        let capabilities: [String]
        /// When its owner announced them.
        let capabilitiesTime: Date?
        let subject: String
        let issuer: String
        let addresses: [String]
        let notBefore: Date
        let notAfter: Date
    }

    let address: String
    let certificates: [CertificateLine]

    init(_ choice: RecipientChoice) {
        address = choice.address.text
        certificates = choice.candidates.map { recipient, reason in
            let certificate = recipient.certificate
            let capabilities = recipient.capabilities.flatMap { try? SMIMECapability.list($0) } ?? []
            return CertificateLine(
                fingerprint: certificate.fingerprint,
                address: recipient.address.text,
                selected: reason.isSelected,
                reason: reason.rawValue,
                trust: recipient.trust.rawValue,
                source: recipient.source.rawValue,
                sourceDetail: recipient.sourceDetail,
                firstSeen: recipient.firstSeen,
                lastSeen: recipient.lastSeen,
                capabilities: SMIMECapability.names(of: capabilities),
                capabilitiesTime: recipient.capabilitiesTime,
                subject: certificate.subject.description,
                issuer: certificate.issuer.description,
                addresses: certificate.addresses,
                notBefore: certificate.notBefore,
                notAfter: certificate.notAfter
            )
        }
    }
}
