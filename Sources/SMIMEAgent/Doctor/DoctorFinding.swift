/// The result of one check of `smime doctor`.
package struct DoctorFinding: Sendable {
    package enum Level: String, Sendable { case ok, warning, error }

    /// How soon the finding must be repaired.
    package enum Urgency: Int, CaseIterable, Comparable, Sendable {
        /// No action is needed.
        case never
        /// The finding should be repaired soon.
        case soon
        /// Mail is stopped, or will be stopped.
        case now

        package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
    }

    /// The command that lists the items whose number a finding gives.
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
