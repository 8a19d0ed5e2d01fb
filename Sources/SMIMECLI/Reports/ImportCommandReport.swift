import Foundation
import PKIX
import SMIMEStore

/// The report of `import`.
struct ImportCommandReport: Encodable {
    let identities: [OwnedCertificateReport]
    let recipients: [OwnedCertificateReport]
    let intermediates: [AuthorityReport]
    let anchors: [AuthorityReport]
    let crls: [RevocationListReport]
    let problems: [ProblemReport]
    /// Why learning ended early, or else the worst failure to read mail; nil if neither happened. `problems` may name
    /// further items that were left out.
    let error: FailureReport.Cause?

    /// - Parameter accounts: the accounts that received the identities.
    init(_ result: ImportReport, _ accounts: [AccountReport], problems: [Problem], failure: Failure?) {
        identities = result.identities.map { entry in
            let account = accounts.first { ([$0.address] + $0.aliases).contains(entry.address.text) }
            let line = account?.identities.first { $0.fingerprint == entry.certificate.fingerprint }
            return OwnedCertificateReport(
                identity: ListedCertificate(entry.address, entry.certificate),
                new: entry.isNew,
                standing: line?.standing
            )
        }
        recipients = result.recipients.map {
            OwnedCertificateReport(recipient: ListedCertificate($0.address, $0.certificate), new: $0.isNew)
        }
        intermediates = result.intermediates.map { AuthorityReport($0.certificate, new: $0.isNew) }
        anchors = result.anchors.map { AuthorityReport($0.certificate, new: $0.isNew) }
        crls = result.crls.map { RevocationListReport($0.list, new: $0.isNew) }
        self.problems = problems.map(ProblemReport.init)
        error = failure.map { FailureReport($0).error }
    }

    static func text(_ result: ImportReport) -> String {
        var table = TextTable()
        func add(_ kind: String, name: String, _ certificate: Certificate, isNew: Bool) {
            table.add(state(isNew), kind, name, validity(certificate), certificate.fingerprint.short)
        }
        for (kind, entries) in [("identity", result.identities), ("recipient", result.recipients)] {
            for entry in entries { add(kind, name: entry.address.text, entry.certificate, isNew: entry.isNew) }
        }
        for (kind, entries) in [("intermediate", result.intermediates), ("anchor", result.anchors)] {
            for entry in entries {
                add(kind, name: entry.certificate.subject.shortName, entry.certificate, isNew: entry.isNew)
            }
        }
        for entry in result.crls {
            table.add(
                state(entry.isNew),
                "crl",
                entry.list.issuer.shortName,
                entry.list.nextUpdate.map { "until \($0.day)" } ?? "of \(entry.list.thisUpdate.day)",
                entry.list.fingerprint.short
            )
        }
        return table.text
    }

    private static func state(_ isNew: Bool) -> String { isNew ? "new" : "known" }

    /// The end of the validity period; also its beginning if that is in the future.
    private static func validity(_ certificate: Certificate) -> String {
        let begin = certificate.notBefore > .now ? "\(certificate.notBefore.day) " : ""
        return "\(begin)until \(certificate.notAfter.day)"
    }
}
