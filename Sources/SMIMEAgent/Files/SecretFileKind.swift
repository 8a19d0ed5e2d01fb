import PKIX
import SMIMEStore

/// A kind of file with private keys.
package enum SecretFileKind: CaseIterable, Sendable {
    case accountBackup
    /// PKCS#12, or private keys as such.
    case keys
    case storeCopy

    /// How many bytes of a file tell.
    package static let headCount = 64 * 1024

    /// The kind of a file that begins with `head`; nil for none of these.
    package init?(head: [UInt8]) {
        if Restoration.isBackup(head) {
            self = .accountBackup
        } else if head.starts(with: Array("SQLite format 3\0".utf8)) {
            self = .storeCopy
        } else if KeyMaterial.mayHoldPrivateKey(head) {
            self = .keys
        } else {
            return nil
        }
    }
}
