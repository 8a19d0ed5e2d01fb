import ArgumentParser
import Foundation
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.RecipientCommand {
    /// An address, and a fingerprint that selects one of the address's certificates.
    struct Target: ParsableArguments {
        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        @Option(help: .fingerprint("Only the certificate with this fingerprint"))
        var fingerprint: FingerprintPrefix?
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        init() {}

        init(
            _ address: AddressScope,
            _ fingerprint: FingerprintPrefix?,
            report: ReportOptions,
            global: GlobalOptions
        ) {
            self.address = address
            self.fingerprint = fingerprint
            self.report = report
            self.global = global
        }

        /// The selected certificates.
        func known() async throws -> [KnownRecipient] {
            let store = try await global.store(.readOnly)
            guard store.exists else { throw KeystoreError.unknownRecipient(address) }
            return try await store.recipients.certificates(for: address).filter { known in
                fingerprint.map { !$0.matches(among: [known.certificate.fingerprint]).isEmpty } ?? true
            }
        }

        /// The certificate that `--fingerprint` names; nil if the option is not given.
        func selected(in store: Store) async throws -> Fingerprint? {
            guard let fingerprint, fingerprint.whole == nil else { return fingerprint?.whole }
            let known = try await store.recipients.certificates(for: address)
            return try fingerprint.only(among: known.map(\.certificate.fingerprint))
        }

        /// Runs `change` on the store and prints `word`, followed by the certificates that `change` returns.
        func run(_ word: String, _ change: (Store) async throws -> [Certificate]) async throws {
            guard try await global.store(.readOnly).exists else { throw KeystoreError.unknownRecipient(address) }
            let store = try await global.store(.readWrite)
            let certificates = try await change(store)
            try await store.close()
            try report.print(TargetReport(address: address.text, fingerprints: certificates.map(\.fingerprint))) {
                certificates.map { "\(word) \(address) \($0.fingerprint)".escapedForDisplay + "\n" }.joined()
            }
        }
    }

    private struct TargetReport: Encodable {
        let address: String
        let fingerprints: [Fingerprint]
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the certificates of an address.",
            discussion: """
                Asks before it removes a pinned or a distrusted certificate (`smime recipient trust`, `smime recipient \
                distrust`), unless --yes is given. A certificate that was removed can be learned again.

                  smime recipient remove bob@example.org
                  smime recipient remove bob@example.org --fingerprint 55bc33f5
                  smime recipient remove bob@example.org --yes
                """
        )

        @OptionGroup var target: Target
        @OptionGroup var confirmation: ConfirmationOptions

        func run() async throws {
            let known = try await target.known()
            let lost = [(KnownRecipient.Trust.pinned, "pin"), (.distrusted, "distrust")].compactMap { trust, word in
                let names = known.filter { $0.trust == trust }.map { "\($0.certificate.fingerprint)" }
                return names.isEmpty ? nil : "the \(word) of \(names.joined(separator: ", "))"
            }
            if !lost.isEmpty {
                try confirmation.confirm("\(target.address): \(lost.joined(separator: " and ")) would be lost")
            }
            try await target.run("removed") { store in
                try await store.recipients.remove(target.address, fingerprint: try await target.selected(in: store))
            }
        }
    }

    struct Trust: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust",
            abstract: "Trust the certificates of an address, even if no chain leads to a trust anchor.",
            discussion: """
                Without --fingerprint this pins every certificate of the address, except the distrusted ones, after \
                it has shown their fingerprints and asked whether you compared them with the owner.

                A pinned certificate is preferred to newer certificates until it expires or is revoked. The pin also \
                holds for a renewed certificate with the same key.

                --from takes the certificate out of a mail that the recipient signed. With a complete --fingerprint \
                the command does not ask. At a terminal the first 8 digits are enough: the command shows subject, \
                issuer and the whole fingerprint, and asks. Elsewhere they are not: an attacker can make a certificate \
                with the same first digits. `smime trust add MAIL` trusts the authority instead.

                  smime recipient trust bob@example.org
                  smime recipient trust bob@example.org --fingerprint sha256:…
                  smime recipient trust bob@example.org --from mail.eml --fingerprint sha256:…
                """
        )

        @Argument(help: ArgumentHelp("The recipient's address, or @domain.", valueName: "addr"))
        var address: AddressScope
        // A separate option, because the help of `--fingerprint` in `Target` says that the first digits are sufficient.
        @Option(
            help: ArgumentHelp(
                "Only the certificate with this complete fingerprint; at a terminal, 8 digits are enough.",
                valueName: "fpr"
            )
        )
        var fingerprint: FingerprintPrefix?
        @Option(
            name: .customLong("from"),
            help: ArgumentHelp("Trust the certificate that signed this mail.", valueName: "mail"),
            completion: .file()
        )
        var mail: String?
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        /// The same arguments in the form that other verbs have.
        var target: Target { Target(address, fingerprint, report: report, global: global) }

        func run() async throws {
            let target = target
            try target.fingerprint?.checkForTrust()
            if let mail { return try await trustSigner(of: mail) }
            let fingerprints =
                if let named = target.fingerprint?.whole { [named] } else { try await confirmed() }
            try await target.run("pinned") { store in
                var pinned: [Certificate] = []
                for fingerprint in fingerprints {
                    pinned += try await store.recipients.setTrust(.pinned, of: address, fingerprint: fingerprint)
                }
                return pinned
            }
        }

        /// The fingerprints that the user has confirmed: of the address's certificates that are not distrusted, or of the one
        /// that a prefix names. A certificate that is learned while the user compares is not among them.
        private func confirmed() async throws -> [Fingerprint] {
            let known = try await target.known()
            if let prefix = target.fingerprint {
                let fingerprint = try prefix.only(among: known.map(\.certificate.fingerprint))
                let new = known.filter { $0.certificate.fingerprint == fingerprint && $0.trust != .pinned }
                if !new.isEmpty { try FingerprintConfirmation(address).ask(new.map(\.certificate)) }
                return [fingerprint]
            }
            guard !known.isEmpty else { throw KeystoreError.unknownRecipient(address) }
            let candidates = known.filter { $0.trust != .distrusted }
            guard !candidates.isEmpty else {
                throw Failure(
                    .noUser,
                    "\(address): every known certificate is distrusted",
                    hints: ["name the one to trust again with --fingerprint"]
                )
            }
            let new = candidates.filter { $0.trust != .pinned }.map(\.certificate)
            if !new.isEmpty { try FingerprintConfirmation(address).ask(new) }
            return candidates.map(\.certificate.fingerprint)
        }
    }

    struct Distrust: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "distrust",
            abstract: "Never use the certificates of an address.",
            discussion: """
                The public key is distrusted: other certificates with the same key are not used for the address \
                either. `smime recipient trust --fingerprint` undoes this.

                  smime recipient distrust bob@example.org
                  smime recipient distrust bob@example.org --fingerprint 55bc33f5
                """
        )

        @OptionGroup var target: Target

        func run() async throws {
            try await target.run("distrusted") { store in
                let fingerprint = try await target.selected(in: store)
                return try await store.recipients.setTrust(.distrusted, of: target.address, fingerprint: fingerprint)
            }
            let store = try await target.global.store(.readOnly)
            let known = try await store.recipients.certificates(for: target.address)
            guard !known.contains(where: { $0.trust == .chain || $0.trust == .pinned }) else { return }
            // Without a rule a gateway sends mail in clear if it cannot encrypt.
            Console.hint(
                "no certificate of \(target.address) is used now; to keep a gateway from sending mail there in clear: "
                    + "smime policy set --recipient \(shell: target.address) --encrypt require"
            )
        }
    }
}
