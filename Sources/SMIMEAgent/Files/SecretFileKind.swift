import PKIX
import SMIMEStore

/// A kind of file that contains private keys.
package enum SecretFileKind: CaseIterable, Sendable {
    case accountBackup
    /// A PKCS#12 file, or a file of private keys.
    case keys
    /// An Apple configuration profile with identities, signed or unsigned.
    case profile
    case storeCopy

    /// The number of bytes at the start of a file that are enough to determine its kind. Only a PEM file may have a private key
    /// after them.
    package static let headCount = 64 * 1024

    /// The kind of a file that begins with `head`; nil if the file is of no such kind.
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

    /// Whether the file is a property list with identities. A signed property list contains the list as plain text.
    private static func isProfile(_ head: [UInt8]) -> Bool {
        let text = String(decoding: head, as: UTF8.self)
        return text.contains("<plist") && text.contains(ConfigurationProfile.pkcs12Type)
    }
}
