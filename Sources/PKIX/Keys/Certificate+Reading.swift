import ByteStreams

extension Certificate {
    /// The first certificate in bytes of PEM, DER, base64 or PKCS#7.
    ///
    /// - Throws: `CMSError.malformed` if there is none; `.limitExceeded`
    package init(_ bytes: some Sequence<UInt8>) throws(CMSError) {
        guard let first = try Self.all(in: bytes).first else {
            throw .malformed(.keyMaterial, "it holds no certificate")
        }
        self = first
    }

    /// The first certificate in a file.
    ///
    /// - Throws: `StreamError.cannotOpen`, `.readFailed`; as for bytes.
    package init(contentsOf path: String) throws {
        let source = try FileSource(path: path)
        guard source.count <= KeyMaterial.maximumFileCount else { throw CMSError.limitExceeded("file size") }
        try self.init(source.bytes(in: 0..<source.count))
    }

    /// Every certificate in bytes of PEM, DER, base64 or PKCS#7, as in a bundle; none is no error.
    ///
    /// - Throws: `CMSError.malformed`, `.limitExceeded`
    package static func all(in bytes: some Sequence<UInt8>) throws(CMSError) -> [Certificate] {
        try KeyMaterial.read(Array(bytes)).compactMap { if case .certificate(let found) = $0 { found } else { nil } }
    }
}
