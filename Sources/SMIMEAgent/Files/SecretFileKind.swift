import PKIX
import SMIMEStore

/// A kind of file with private keys.
package enum SecretFileKind: CaseIterable, Sendable {
    case accountBackup
    /// PKCS#12, or private keys as such.
    case keys
    /// An Apple configuration profile with identities, signed or not.
    case profile
    case storeCopy

    /// How many bytes of a file determine its kind.
    package static let headCount = 64 * 1024

    /// The kind of a file that begins with `head`; nil for none of these.
    package init?(head: [UInt8]) {
        if Restoration.isBackup(head) {
            self = .accountBackup
        } else if head.starts(with: Array("SQLite format 3\0".utf8)) {
            self = .storeCopy
        } else if KeyMaterial.mayHoldPrivateKey(head) {
            self = .keys
        } else if Self.isProfile(head) {
            self = .profile
        } else {
            return nil
        }
    }

    /// Whether the file is a property list with identities; of a signed one, the list is in clear inside the signature.
    private static func isProfile(_ head: [UInt8]) -> Bool {
        let text = String(decoding: head, as: UTF8.self)
        return text.contains("<plist") && text.contains(ConfigurationProfile.pkcs12Type)
    }
}
