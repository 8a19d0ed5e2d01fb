package import PKIX

extension KeyMaterial {
    /// The largest file of keys or certificates that is read, in bytes.
    package static let maximumFileSize = 256 << 20
}
