import ArgumentParser
import CMS
import Foundation
import Keystore
import MIME

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

        func run() async throws {
            let registry = try await global.store(.readOnly).recipients
            var addresses: [EmailAddress] = []
            for recipient in try await registry.all() where addresses.last != recipient.address {
                addresses.append(recipient.address)
            }
            let choices = try await registry.choices(
                for: addresses,
                at: time.date,
                systemAnchors: anchors.systemAnchors
            )
            try report.print(["recipients": choices.map(RecipientReport.init)]) {
                var table = TextTable()
                for choice in choices {
                    guard let selected = choice.selected else {
                        let why = choice.candidates.first.map { "unusable: \($0.reason)" } ?? ""
                        table.add(choice.address.text, why)
                        continue
                    }
                    table.add(
                        choice.address.text,
                        "until \(selected.certificate.notAfter.day)",
                        "\(selected.certificate.fingerprint)"
                    )
                }
                return table.text
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show every certificate known for an address, and why which one is used.",
            discussion: "  smime recipient show bob@example.org"
        )

        @Argument(help: ArgumentHelp("The recipient's address.", valueName: "addr"))
        var address: EmailAddress
        @OptionGroup var time: TimeOptions
        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.store(.readOnly)
            let choices = try await store.recipients.choices(
                for: [address],
                at: time.date,
                systemAnchors: anchors.systemAnchors
            )
            guard let choice = choices.first, !choice.candidates.isEmpty else {
                throw KeystoreError.unknownRecipient(address)
            }
            try report.print(RecipientReport(choice)) {
                var table = TextTable()
                for (recipient, reason) in choice.candidates {
                    let certificate = recipient.certificate
                    table.add(
                        reason == .selected ? "*" : " ",
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
        let selected: Bool
        let reason: String
        let trust: String
        let source: String
        let sourceDetail: String?
        let firstSeen: Date
        let lastSeen: Date
        /// The ciphers its owner announced, best first.
        let capabilities: [String]
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
                selected: reason == .selected,
                reason: reason.rawValue,
                trust: recipient.trust.rawValue,
                source: recipient.source.rawValue,
                sourceDetail: recipient.sourceDetail,
                firstSeen: recipient.firstSeen,
                lastSeen: recipient.lastSeen,
                capabilities: capabilities.map(\.name),
                subject: certificate.subject.description,
                issuer: certificate.issuer.description,
                addresses: certificate.addresses,
                notBefore: certificate.notBefore,
                notAfter: certificate.notAfter
            )
        }
    }
}
