package import InternetMessage
package import PKIX
package import SMIMEStore

/// The result of one check of `smime doctor`.
package struct DoctorFinding: Sendable {
    package enum Level: String, Sendable { case ok, warning, error }

    /// How soon the finding must be repaired.
    package enum Urgency: Int, CaseIterable, Comparable, Sendable {
        /// Nothing is wrong, or smime works in spite of the fault.
        case never
        /// The finding should be repaired soon.
        case soon
        /// Mail is stopped, or will be stopped.
        case now

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The command that lists all items, for a finding that only counts them.
    package enum Listing: Sendable {
        /// Certificates that expire soon.
        case expiring
        /// All recipients.
        case recipients
    }

    package let code: String
    package let level: Level
    package let text: String
    package let remedies: [DoctorRemedy]
    package let urgency: Urgency
    /// The command that lists the details; nil if there is no such command.
    package let listing: Listing?
}

extension [DoctorFinding] {
    /// The findings, worst first; equally bad findings in the order of the checks.
    package var ranked: [DoctorFinding] {
        DoctorFinding.Urgency.allCases.reversed().flatMap { urgency in
            let found = filter { $0.urgency == urgency }
            return found.filter { $0.level != .ok } + found.filter { $0.level == .ok }
        }
    }
}

/// One check, which collects its findings.
protocol DoctorCheck {
    var findings: [DoctorFinding] { get set }
}

extension DoctorCheck {
    /// - Parameter urgency: how soon the finding must be repaired; nil if its level decides that.
    mutating func add(
        _ code: String,
        _ level: DoctorFinding.Level,
        text: String,
        remedies: [DoctorRemedy] = [],
        urgency: DoctorFinding.Urgency? = nil,
        listing: DoctorFinding.Listing? = nil
    ) {
        let usual: DoctorFinding.Urgency =
            switch level {
            case .ok: .never
            case .warning: .soon
            case .error: .now
            }
        findings.append(
            DoctorFinding(
                code: code,
                level: level,
                text: text,
                remedies: remedies,
                urgency: urgency ?? usual,
                listing: listing
            )
        )
    }
}

/// A remedy for a finding.
package enum DoctorRemedy: Sendable {
    /// An instruction that is not a command of smime, such as to install a package.
    case advice(String)
    /// The usual remedy for the given error.
    case resolve(any Error)
    /// Add trust anchors to the store; they replace the system's trust anchors.
    case addAnchors
    case restoreMissingStore
    /// Restore the folder of revocation lists that a setting names, or change that setting.
    case restoreListFolder
    /// Make the other user the owner of the directory.
    case changeOwner(of: String, to: String)
    /// Read what the problem means.
    case explain(ProblemCode)
    /// Install Postfix, or name the folder of its configuration.
    case findPostfix
    case forgetList(Fingerprint)
    /// Import the certificate of the authority that issued this certificate.
    case importIssuer(of: Certificate)
    case importKey
    case importList
    /// Get the recipient's certificate from a signed mail, or add it by hand.
    case learn(AddressScope)
    case listSettings
    /// Repair this kind of certificate source, or remove it from the settings.
    case repairSource(kind: String)
    /// Request a new certificate, and import that certificate.
    case renew
    /// Request and import a new certificate, if the account has no other identity.
    case renewRevoked
    /// Replace the revocation list in this file by a newer one, if the list is needed.
    case replaceList(path: String)
    case restoreStore
    /// Set up Postfix in the folder where its configuration was expected, or name another folder.
    case setUpPostfix
    case showAccount(EmailAddress)
    /// Compare the fingerprint of the certificate that is held back, and trust it.
    case trustHeld(AddressScope, Fingerprint)
    case trustRoot(Certificate)
}

/// A number with its noun in the singular or plural: `1 identity`, `2 identities`.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
