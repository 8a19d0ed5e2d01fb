import InternetMessage
import PKIX
import SMIME
package import SMIMEStore

extension ImportBatch {
    /// The keys of some people of `certs/`, for the addresses that their certificates name, and the CA above them.
    package static func people(_ names: String...) throws -> ImportBatch {
        var batch = ImportBatch()
        batch.identities = try names.map(IdentityItem.init(person:))
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        return batch
    }

    /// The root of `certs/`, trusted, and the CA below it.
    package static func authorities() throws -> ImportBatch {
        var batch = ImportBatch()
        batch.anchors = [try Certificate(fixture: "ca/root.pem")]
        batch.intermediates = [try Certificate(fixture: "ca/intermediate.pem")]
        return batch
    }
}

extension ImportBatch.IdentityItem {
    /// Someone of `certs/`.
    package init(person name: String) throws {
        let identity = try TestIdentity(name).identity
        self.init(identity, accounts: identity.certificate.emailAddresses, isAssigned: false)
    }
}
