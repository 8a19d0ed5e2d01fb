import InternetMessage
import PKIX
import SMIME
package import SMIMEStore

extension ImportBatch {
    /// The keys of people in `certs/` for the addresses in their certificates, and the CA above them.
    package static func people(_ names: String...) throws -> ImportBatch {
        var batch = ImportBatch()
        batch.identities = try names.map(IdentityItem.init(person:))
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        return batch
    }

    /// The root in `certs/` as a trusted anchor, and the CA below it.
    package static func authorities() throws -> ImportBatch {
        var batch = ImportBatch()
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        return batch
    }
}

extension ImportBatch.IdentityItem {
    /// The key and certificates of the test person `name` in `certs/`, for the accounts that the certificate names.
    package init(person name: String) throws {
        let identity = try TestIdentity(name).identity
        self.init(identity, accounts: identity.certificate.emailAddresses, isAssigned: false)
    }
}
