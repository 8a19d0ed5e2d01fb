import Foundation
import InternetMessage
import PKIX

/// Certificates, addresses, aliases and revocation lists that cannot be read, and columns that do not match their
/// certificate or revocation list.
///
/// Gateways can write such rows to a shared store. Learned and fetched rows can be removed, because they can be learned or
/// fetched again, and columns can be corrected. Certificates, lists and addresses from a user are not changed.
struct WrongRows {
    private(set) var findings: [StoreFinding] = []
    /// The certificates that `repair` removes.
    private(set) var certificates: [Int64] = []
    /// The recipients that `repair` removes, except those of `certificates`.
    private(set) var recipients: [(key: String, certificate: Int64)] = []
    /// The fingerprints of the revocation lists that `repair` removes.
    private(set) var lists: [[UInt8]] = []
    private var changes: [(id: Int64, columns: [(column: String, value: SQLValue)])] = []
    private var issuers: [(fingerprint: [UInt8], key: [UInt8])] = []

    init(in database: SQLDatabase) throws {
        try database.forEach(Self.certificateColumns) { try look(atCertificate: $0) }
        findings.sort { $0.text < $1.text }
        let rows = "SELECT address_key, address, source, trust, certificate FROM recipient ORDER BY address_key"
        try database.forEach(rows) { try look(atRecipient: $0) }
        let lists = "SELECT fingerprint, issuer_key, der, fetched FROM crl ORDER BY fingerprint"
        try database.forEach(lists) { try look(atList: $0) }
        let accounts = "SELECT address_key, address FROM account ORDER BY address_key"
        try database.forEach(accounts) { try look(atAccount: $0) }
        let aliases = "SELECT pattern_key, pattern FROM account_alias ORDER BY pattern_key"
        try database.forEach(aliases) { try look(atAlias: $0) }
    }

    /// The number of rows that `repair` removes or corrects.
    var repairable: Int { certificates.count + recipients.count + lists.count + changes.count + issuers.count }

    /// Removes rows that can be learned or fetched again, and corrects columns.
    func repair(in database: SQLDatabase) throws {
        for list in lists { try database.execute("DELETE FROM crl WHERE fingerprint = ?", [list]) }
        for (fingerprint, key) in issuers {
            try database.execute("UPDATE crl SET issuer_key = ? WHERE fingerprint = ?", [key, fingerprint])
        }
        for (key, certificate) in recipients {
            let delete = "DELETE FROM recipient WHERE address_key = ? AND certificate = ?"
            try database.execute(delete, [key, certificate])
        }
        for id in certificates {
            try database.execute("DELETE FROM recipient WHERE certificate = ?", [id])
            try database.execute("DELETE FROM intermediate WHERE certificate = ?", [id])
        }
        try CertificateRecord.removeUnused(certificates + recipients.map(\.certificate), from: database)
        for (id, columns) in changes { try CertificateRecord.mend(id, columns, in: database) }
    }

    /// The rows are read in the order in which they are stored: any other order reads most pages several times.
    private static let certificateColumns = """
        SELECT id, \(CertificateRecord.described), \(isGiven) AS is_given FROM certificate ORDER BY id
        """

    /// The condition for certificates from a user, and for those with a private key.
    static let isGiven = """
        (EXISTS (SELECT 1 FROM anchor WHERE anchor.certificate = id)
            OR EXISTS (SELECT 1 FROM private_key WHERE private_key.certificate = id)
            OR EXISTS (SELECT 1 FROM intermediate WHERE intermediate.certificate = id AND learned = 0)
            OR EXISTS (SELECT 1 FROM recipient WHERE recipient.certificate = id
                AND NOT (source = 'harvest' AND trust IN ('chain', 'held'))))
        """

    private mutating func look(atCertificate row: SQLRow) throws {
        let (id, fingerprint): (Int64, [UInt8]) = (try row.value("id"), try row.value("fingerprint"))
        let name = Fingerprint(bytes: fingerprint).map { "\($0)" } ?? "a certificate"
        let isGiven: Bool = try row.value("is_given")
        guard let certificate = try? Certificate(der: row.value("der") as [UInt8]) else {
            add(.unreadable, isGiven ? .error : .warning, text: "\(name): the certificate cannot be read")
            if !isGiven { certificates.append(id) }
            return
        }
        // `changedCertificates` reports a certificate that does not match its fingerprint.
        guard certificate.fingerprint.bytes == fingerprint else {
            if !isGiven { certificates.append(id) }
            return
        }
        let wrong = try CertificateRecord.changes(of: row, to: certificate)
        guard !wrong.isEmpty else { return }
        let columns = wrong.map(\.column).joined(separator: ", ")
        add(.columns, .warning, text: "\(name): columns of the database differ from the certificate (\(columns))")
        changes.append((id, wrong))
    }

    private mutating func look(atRecipient row: SQLRow) throws {
        let (key, text): (String, String) = (try row.value("address_key"), try row.value("address"))
        let (source, trust): (String, String) = (try row.value("source"), try row.value("trust"))
        let isLearned = RecipientRecord.isLearned(source: source, trust: trust)
        let isKnown = KnownRecipient.Source(rawValue: source) != nil && KnownRecipient.Trust(rawValue: trust) != nil
        let address = try? AddressScope(text)
        guard !isKnown || address == nil || isLearned && address?.key != key else { return }
        add(
            .unreadable,
            isLearned ? .warning : .error,
            text:
                "\(Self.name(key)): a certificate of this recipient has \(isKnown ? "a wrong or invalid address" : "an unknown source or trust")"
        )
        if isLearned { recipients.append((key, try row.value("certificate"))) }
    }

    private mutating func look(atList row: SQLRow) throws {
        let fingerprint: [UInt8] = try row.value("fingerprint")
        let name = Fingerprint(bytes: fingerprint).map { "\($0)" } ?? "a revocation list"
        let list = try? CertificateList(der: row.value("der"))
        guard let list, let key = try? list.issuer.matchingKey, list.fingerprint.bytes == fingerprint else {
            let isFetched: Bool = try row.value("fetched")
            add(.unreadable, isFetched ? .warning : .error, text: "\(name): the revocation list cannot be read")
            if isFetched { lists.append(fingerprint) }
            return
        }
        guard try row.value("issuer_key") != key else { return }
        add(.columns, .warning, text: "\(name): a column of the database differs from the revocation list (issuer_key)")
        issuers.append((fingerprint, key))
    }

    private mutating func look(atAccount row: SQLRow) throws {
        guard (try? EmailAddress(row.value("address") as String)) == nil else { return }
        let name = Self.name(try row.value("address_key"))
        add(.unreadable, .error, text: "\(name): the address of this account cannot be read")
    }

    private mutating func look(atAlias row: SQLRow) throws {
        guard (try? AddressScope(row.value("pattern") as String)) == nil else { return }
        let name = Self.name(try row.value("pattern_key"))
        add(.unreadable, .error, text: "\(name): this alias of an account cannot be read")
    }

    /// The key of an address, shortened for a sentence.
    private static func name(_ key: String) -> String { String(key.prefix(100).filter { !$0.isNewline }) }

    private mutating func add(_ code: StoreFinding.Code, _ level: StoreFinding.Level, text: String) {
        findings.append(StoreFinding(code, level, text: text))
    }
}
