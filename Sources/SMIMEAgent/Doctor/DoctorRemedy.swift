package import InternetMessage
package import PKIX
package import SMIMEStore

/// A remedy for a finding.
package enum DoctorRemedy: Sendable {
    /// An instruction that is not a command of smime, such as to install a package.
    case advice(String)
    /// The usual remedy for the given error.
    case resolve(any Error)
    /// Add trust anchors to the store; they replace the system's trust anchors.
    case addAnchors
    case bringStoreBack
    /// Restore the folder of revocation lists that a setting names, or change that setting.
    case bringFolderBack
    /// Make the other user the owner of the directory.
    case changeOwner(of: String, to: String)
    /// Read what the problem means.
    case explain(ProblemCode)
    /// Install Postfix, or name the folder of its configuration.
    case findPostfix
    case forgetList(Fingerprint)
    /// Import the certificate of the authority that issued this certificate.
    case importIssuer(of: Certificate)
    case importKey
    case importList
    /// Get the recipient's certificate from a signed mail, or add it by hand.
    case learn(AddressScope)
    case listSettings
    /// Repair this kind of certificate source, or remove it from the settings.
    case mendSource(kind: String)
    /// Request a new certificate, and import that certificate.
    case renew
    /// Request and import a new certificate, if the account has no other identity.
    case renewRevoked
    /// Replace the revocation list in this file by a newer one, if the list is needed.
    case replaceList(path: String)
    case restoreStore
    /// Set up Postfix in the folder where its configuration was expected, or name another folder.
    case setUpPostfix
    case showAccount(EmailAddress)
    /// Compare the fingerprint of the certificate that is held back, and trust it.
    case trustHeld(AddressScope, Fingerprint)
    case trustRoot(Certificate)
}
