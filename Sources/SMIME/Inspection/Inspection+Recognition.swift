import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX

extension Inspection {
    /// Recognizes the format of a file by its start.
    static func anything(_ source: any ByteSource, _ inspector: inout Inspector) throws -> Inspection {
        let head = try source.bytes(in: 0..<min(source.count, headCount))
        if head.first == 0x30 { return try binary(source, &inspector) }
        if try PEMObject.isThere(in: source) { return try armored(source, &inspector) }
        let header = try HeaderBlock(parsing: head)
        if !header.isMail(besidePEM: KeyMaterial.isPEM(head)) {
            // Text may be keys or certificates that follow explanatory text.
            do { return try keyMaterial(source) } catch let error as CMSError {
                if head.starts(with: "-----BEGIN ".utf8) { throw error }
            }
            let decoded = source.stream().base64Decoded()
            if head.starts(with: "MI".utf8), try isBase64CMS(decoded) {
                return Inspection(.cms(try inspector.object(decoded)))
            }
        }
        guard !header.fields.isEmpty else {
            throw MessageError.malformed("neither mail, nor CMS, PKCS#12, certificates or keys")
        }
        return Inspection(.message(try inspector.message(in: source)))
    }

    /// Reads PEM: a CMS object, or keys and certificates.
    static func armored(_ source: any ByteSource, _ inspector: inout Inspector) throws -> Inspection {
        guard try PEMObject.isThere(in: source) else { return try keyMaterial(source) }
        return Inspection(.cms(try inspector.object(PEMObject.stream(of: source))))
    }

    /// Reads DER or BER: a CMS object, or keys and certificates.
    static func binary(_ source: any ByteSource, _ inspector: inout Inspector) throws -> Inspection {
        guard try CMSOutline.isCMS(source.stream()) else { return try keyMaterial(source) }
        return Inspection(.cms(try inspector.object(source.stream())))
    }

    private static func keyMaterial(_ source: any ByteSource) throws -> Inspection {
        guard source.count <= maximumKeyMaterial else { throw CMSError.limitExceeded("file size") }
        let items = try KeyMaterial.read(source.bytes(in: 0..<source.count))
        for case .pkcs12(let bytes) in items {
            let outline = try PKCS12Outline(bytes)
            var inspection = Inspection(.pkcs12(outline))
            if outline.hasTrailingBytes {
                inspection.problems.append(Problem(.pkcs12TrailingBytes, "bytes follow the PKCS#12 structure"))
            }
            if outline.mac == nil {
                inspection.problems.append(Problem(.pkcs12NoMAC, "nothing protects the file against changes"))
            }
            return inspection
        }
        return Inspection(.certificates(items))
    }

    private static func isBase64CMS(_ stream: ByteStream) throws -> Bool {
        do { return try CMSOutline.isCMS(stream) } catch StreamError.malformedBase64 { return false }
    }

    /// The number of bytes at the start of a file that are used to recognize its format.
    private static let headCount = 64 * 1024
    /// The maximum size in bytes of a file of keys, certificates or revocation lists. Such a file is read into memory.
    private static let maximumKeyMaterial = 32 << 20
}
