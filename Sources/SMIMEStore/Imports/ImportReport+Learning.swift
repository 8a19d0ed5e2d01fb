import PKIX

extension ImportReport {
    /// Adds what was learned from mail to the recipients.
    package mutating func add(_ report: LearningReport) {
        let learned = report.entries.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: true) }
        let known = report.known.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: false) }
        // A sender of a thousand messages is listed once.
        for entry in learned + known
        where fromMail.insert("\(entry.address.key) \(entry.certificate.fingerprint)").inserted {
            recipients.append(entry)
        }
    }
}
