import Foundation
import PKIX
import SMIMEStore

/// A certificate of an account or a recipient in JSON reports. The property names are the JSON keys in camel case.
struct OwnedCertificateReport: Encodable {
    /// The owner's address: `account` for a certificate of an account, `address` for that of a recipient. One of them is nil.
    private let account, address: String?
    private let addresses: [String]
    private let fingerprint: Fingerprint
    private let notAfter: Date
    private let new: Bool?
    /// For an account's certificate: whether the account uses the certificate today, or why not.
    private let standing: String?

    init(identity: ListedCertificate, new: Bool? = nil, standing: String? = nil) {
        self.init(identity, account: identity.address.text, new: new, standing: standing)
    }

    init(recipient: ListedCertificate, new: Bool? = nil) {
        self.init(recipient, address: recipient.address.text, new: new)
    }

    private init(
        _ certificate: ListedCertificate,
        account: String? = nil,
        address: String? = nil,
        new: Bool?,
        standing: String? = nil
    ) {
        (self.account, self.address) = (account, address)
        (self.new, self.standing) = (new, standing)
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notAfter = certificate.notAfter
    }
}

struct AuthorityReport: Encodable {
    let subject: String
    let issuer: String
    let fingerprint: Fingerprint
    let notAfter: Date
    let added: Date?
    let new: Bool?

    init(_ certificate: Certificate, added: Date? = nil, new: Bool? = nil) {
        subject = certificate.subject.description
        issuer = certificate.issuer.description
        fingerprint = certificate.fingerprint
        notAfter = certificate.notAfter
        self.added = added
        self.new = new
    }
}

struct RevocationListReport: Encodable {
    let issuer: String
    let fingerprint: Fingerprint
    let thisUpdate: Date
    let nextUpdate: Date?
    /// The path of the list's file; nil if the list is in the store.
    let file: String?
    let new: Bool?

    init(_ list: CertificateList, file: String? = nil, new: Bool? = nil) {
        self.file = file
        issuer = list.issuer.description
        fingerprint = list.fingerprint
        thisUpdate = list.thisUpdate
        nextUpdate = list.nextUpdate
        self.new = new
    }
}

struct ProblemReport: Encodable {
    let code: String
    let level: String
    let text: String

    init(_ problem: Problem) {
        code = problem.code
        level = problem.level.rawValue
        text = problem.text
    }
}

/// The values of a certificate for a list. A list of thousands of certificates keeps only these values in memory.
struct ListedCertificate: Sendable {
    let address: AddressScope
    let addresses: [String]
    let fingerprint: Fingerprint
    let notBefore: Date
    let notAfter: Date
    /// Whether it is known that the certificate was revoked.
    var isRevoked = false

    init(_ address: AddressScope, _ certificate: Certificate) {
        self.address = address
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }
}

/// A certificate's fingerprint, followed by its issuers, as far as the store has their certificates.
struct ChainText {
    /// The lines, each with its line end.
    let text: String

    init(of certificate: Certificate, in store: Store) async throws {
        let known = try await store.anchors.chain(above: certificate, includingRoots: true)
        let anchors = Set(try await store.anchors.all().map(\.certificate.fingerprint))
        var tree = TextTree("\(certificate.fingerprint)", indent: "  ")
        for (index, issuer) in IssuerSearch(among: known).issuers(of: certificate).enumerated() {
            let isAnchor = anchors.contains(issuer.fingerprint)
            tree.add("issued by \(issuer.subject)\(isAnchor ? ", trusted here" : "")", level: index + 1)
        }
        text = tree.text
    }
}

extension DistinguishedName {
    /// The common name; the whole name if there is no common name. Tables and sentences have no room for the whole name.
    var shortName: String { commonName ?? "\(self)" }
}
