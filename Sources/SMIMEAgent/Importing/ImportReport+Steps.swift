package import Foundation
import InternetMessage
package import PKIX
package import SMIMEStore

/// A next step after an import.
package enum ImportStep: Sendable {
    /// Trust this root, which ends the chain of the imported certificate and is no trust anchor. It is among the files, or was
    /// in the store before.
    case trust(Certificate)
    /// Import the certificate of the authority that issued this certificate.
    case findIssuer(of: Certificate)
    /// Sign mail as the account with this address.
    case sign(as: AddressScope)
}

extension Store {
    /// The next steps after the import of an identity: first, if the chain ends at no trust anchor, to trust its root
    /// or to import the missing issuer; then to sign with the identity. After an import with exactly one root and no
    /// identity, the step is to trust that root.
    ///
    /// - Parameter systemAnchors: whether the system's trust anchors are used.
    package func nextSteps(
        after report: ImportReport,
        systemAnchors: Bool,
        at time: Date
    ) async throws -> [ImportStep] {
        guard let first = report.identities.first(where: { $0.certificate.isValid(at: time) }) else {
            return try await untrustedRoot(in: report).map { [.trust($0)] } ?? []
        }
        let trust = try await anchors.trust(judging: [first.certificate], systemAnchors: systemAnchors)
        let purpose: Certificate.KeyPurpose = first.certificate.canSign ? .signing : .encryption
        var steps: [ImportStep] = []
        if trust.judge(first.certificate, purpose: purpose, at: time).trust == nil {
            let given = [first.certificate] + report.intermediates.map(\.certificate)
            if let root = given.last(where: \.isSelfIssued) {
                steps.append(.trust(root))
            } else {
                switch try await anchors.chainEnd(above: first.certificate) {
                case .root(let root): steps.append(.trust(root))
                case .missingIssuer(let last): steps.append(.findIssuer(of: last))
                }
            }
        }
        if first.certificate.canSign { steps.append(.sign(as: first.address)) }
        return steps
    }

    /// The root in `report` if it is the only one and no trust anchor, and the report has no identity. A self-issued
    /// certificate with an address is not considered a root here, because it may belong to a person.
    private func untrustedRoot(in report: ImportReport) async throws -> Certificate? {
        let roots = report.intermediates.map(\.certificate).filter { $0.isSelfIssued && $0.addresses.isEmpty }
        guard report.identities.isEmpty, roots.count == 1, let root = roots.first else { return nil }
        let isAnchor = try await anchors.all().contains { $0.certificate == root }
        return isAnchor ? nil : root
    }

    /// The accounts that received identities by the import that `report` describes, each once.
    package func accounts(after report: ImportReport) async throws -> [Account] {
        var found: [Account] = []
        for entry in report.identities {
            let account = try await accounts.account(ifAnyFor: try? EmailAddress(entry.address.text))
            if let account, !found.contains(where: { $0.address == account.address }) { found.append(account) }
        }
        return found
    }
}
