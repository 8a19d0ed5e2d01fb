package import InternetMessage
package import PKIX
package import SMIMEStore

/// A remedy for a finding.
package enum DoctorRemedy: Sendable {
    /// Something that is no command of ours, as to install a package.
    case advice(String)
    /// The usual remedy for this error.
    case resolve(any Error)
    /// Anchors in the store take the place of the system's.
    case addAnchors
    case bringStoreBack
    /// The folder of revocation lists that a setting names is to come back, or the setting to change.
    case bringFolderBack
    /// The directory belongs to another user.
    case changeOwner(of: String, to: String)
    /// Postfix is to be installed, or its configuration named.
    case findPostfix
    case forgetList(Fingerprint)
    case importKey
    case importList
    /// A recipient's certificate comes with signed mail, or by hand.
    case learn(AddressScope)
    case listSettings
    /// Repair the source of certificates, or remove it from the settings.
    case mendSource(kind: String)
    /// A new certificate is to be issued, and imported.
    case renew
    /// The same, if there is no other one.
    case renewRevoked
    /// A newer list is to take the place of this file, if it is needed.
    case replaceList(path: String)
    case restoreStore
    /// Postfix is to be set up where it was looked for, or its configuration named.
    case setUpPostfix
    case showAccount(EmailAddress)
    /// The certificate that is held back can be used once its fingerprint was compared.
    case trustHeld(AddressScope, Fingerprint)
    case trustRoot
}
