import Foundation
import PKIX
import SMIMEStore

/// Certificates in JSON reports. The property names are the JSON keys in camel case.
struct IdentityReport: Encodable {
    let account: String
    let addresses: [String]
    let fingerprint: Fingerprint
    let notAfter: Date
    let new: Bool?
    /// Whether it is the one that is used today, or why not.
    let standing: String?

    init(_ address: AddressScope, _ certificate: Certificate, new: Bool, standing: String?) {
        self.init(ListedCertificate(address, certificate), new: new, standing: standing)
    }

    init(_ certificate: ListedCertificate, new: Bool? = nil, standing: String? = nil) {
        self.standing = standing
        account = certificate.address.text
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notAfter = certificate.notAfter
        self.new = new
    }
}

struct RecipientEntryReport: Encodable {
    let address: String
    let addresses: [String]
    let fingerprint: Fingerprint
    let notAfter: Date
    let new: Bool?

    init(_ address: AddressScope, _ certificate: Certificate, new: Bool? = nil) {
        self.init(ListedCertificate(address, certificate), new: new)
    }

    init(_ certificate: ListedCertificate, new: Bool? = nil) {
        address = certificate.address.text
        addresses = certificate.addresses
        fingerprint = certificate.fingerprint
        notAfter = certificate.notAfter
        self.new = new
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
    /// Its file, if it is not in the store.
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
