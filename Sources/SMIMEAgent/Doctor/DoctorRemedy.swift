package import InternetMessage
package import PKIX
package import SMIMEStore

/// A remedy for a finding.
package enum DoctorRemedy: Sendable {
    /// An advice without a command of ours, such as to install a package.
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
    /// Replace this file by a newer list, if it is needed.
    case replaceList(path: String)
    case restoreStore
    /// Set up Postfix in the folder where it was looked for, or name its configuration.
    case setUpPostfix
    case showAccount(EmailAddress)
    /// The certificate that is held back can be used once its fingerprint was compared.
    case trustHeld(AddressScope, Fingerprint)
    case trustRoot
}
