import PKIX

extension ImportReport {
    /// Adds the certificates that were learned from mail to `recipients`.
    package mutating func add(_ report: LearningReport) {
        let learned = report.entries.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: true) }
        let known = report.known.map { Entry(address: .init($0.address), certificate: $0.certificate, isNew: false) }
        // A certificate is listed once, even if its owner has signed many messages.
        for entry in learned + known
        where fromMail.insert("\(entry.address.key) \(entry.certificate.fingerprint)").inserted {
            recipients.append(entry)
        }
    }
}
