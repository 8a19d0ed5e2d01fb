package import InternetMessage
package import PKIX
package import SMIMEStore

/// A remedy for a finding.
package enum DoctorRemedy: Sendable {
    /// An instruction without a command of ours, such as to install a package.
    case advice(String)
    /// The usual remedy for this error.
    case resolve(any Error)
    /// Anchors in the store take the place of the system's.
    case addAnchors
    case bringStoreBack
    /// Restore the folder of revocation lists that a setting names, or change the setting.
    case bringFolderBack
    /// The directory belongs to another user.
    case changeOwner(of: String, to: String)
    /// Install Postfix, or name its configuration.
    case findPostfix
    case forgetList(Fingerprint)
    case importKey
    case importList
    /// Get the recipient's certificate from a signed mail, or add it by hand.
    case learn(AddressScope)
    case listSettings
    /// Repair the source of certificates, or remove it from the settings.
    case mendSource(kind: String)
    /// Request a new certificate, and import it.
    case renew
    /// The same, for an account with no other identity.
    case renewRevoked
    /// Replace this file by a newer list, if it is needed.
    case replaceList(path: String)
    case restoreStore
    /// Set up Postfix in the folder where it was looked for, or name its configuration.
    case setUpPostfix
    case showAccount(EmailAddress)
    /// Compare the fingerprint of the certificate that is held back, and trust it.
    case trustHeld(AddressScope, Fingerprint)
    case trustRoot
}
