package import PKIX

extension KeyMaterial {
    /// The most bytes that a file of keys or certificates may have.
    package static let maximumFileSize = 256 << 20
}
