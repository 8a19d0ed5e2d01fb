package import ByteStreams
package import CMSSyntax
import InternetMessage
package import PKIX

/// The structure of a file, as far as it is readable without keys. Nothing is verified.
package struct Inspection: Sendable {
    /// The kind of the file.
    package enum Subject: Sendable {
        /// Certificates, revocation lists and private keys.
        case certificates([KeyMaterial])
        /// A bare CMS object.
        case cms(Layer)
        /// A mail message.
        case message(Part)
        case pkcs12(PKCS12Outline)
    }

    /// The format of the input.
    package enum InputFormat: Sendable {
        /// Recognize the format by the content.
        case any
        /// A mail message.
        case message
        /// DER or BER.
        case der
        /// PEM.
        case pem
    }

    /// A MIME entity.
    package struct Part: Sendable {
        /// The media type, such as `text/plain`.
        package let mediaType: String
        /// The parameters that matter to S/MIME or to users.
        package let parameters: [String: String]
        /// The name of the transfer encoding.
        package let transferEncoding: String
        /// The file name of the part; nil if there is none.
        package let filename: String?
        /// The length of the encoded body in bytes.
        package let count: Int
        /// The CMS object that is this part's body, or that contains its signature; nil if there is none.
        package internal(set) var layer: Layer?
        /// The parts of a multipart, or the embedded message.
        package internal(set) var parts: [Part] = []
        /// The problems of this entity itself. `layer` and `parts` have their own.
        package internal(set) var problems: [Problem] = []
    }

    /// A CMS object.
    package struct Layer: Sendable {
        /// The structure of the object.
        package let outline: CMSOutline
        /// The content of the object; nil if the content is encrypted, detached, or neither a MIME entity nor a CMS object.
        package internal(set) var content: Content?
        /// The problems of the object, or of its position in the message.
        package internal(set) var problems: [Problem]
    }

    /// The content of a signed or compressed object.
    package indirect enum Content: Sendable {
        case part(Part)
        case layer(Layer)
    }

    /// The kind of the file, and its content.
    package let subject: Subject
    /// The problems of the file as a whole.
    package internal(set) var problems: [Problem] = []

    init(_ subject: Subject) { self.subject = subject }

    /// Recognizes the format of `source` and reads its structure.
    ///
    /// The memory used does not depend on the size of a message. Opaque content is written to a temporary file to find layers
    /// inside.
    /// - Throws: `MessageError.malformed` for an empty input or an unknown format; `CMSError` and `MIMEError` if nothing can
    ///   be shown; `StreamError`.
    package init(of source: any ByteSource, form: InputFormat = .any) throws {
        guard source.count > 0 else { throw MessageError.malformed("the input is empty") }
        var inspector = Inspector()
        switch form {
        case .message: self.init(.message(try inspector.message(in: source)))
        case .der: self = try Self.binary(source, &inspector)
        case .pem: self = try Self.armored(source, &inspector)
        case .any: self = try Self.anything(source, &inspector)
        }
        try source.checkUnchanged()
    }

    /// All problems, the outermost first.
    package var allProblems: [Problem] {
        switch subject {
        case .certificates, .pkcs12: problems
        case .cms(let layer): problems + layer.allProblems
        case .message(let part): problems + part.allProblems
        }
    }
}

extension Inspection.Part {
    fileprivate var allProblems: [Problem] {
        problems + (layer?.allProblems ?? []) + parts.flatMap(\.allProblems)
    }
}

extension Inspection.Layer {
    fileprivate var allProblems: [Problem] {
        switch content {
        case .part(let part): problems + part.allProblems
        case .layer(let layer): problems + layer.allProblems
        case nil: problems
        }
    }
}

extension Inspection {
    /// The outline of every CMS object, the outermost first.
    package var outlines: [CMSOutline] {
        switch subject {
        case .certificates, .pkcs12: []
        case .cms(let layer): layer.outlines
        case .message(let part): part.outlines
        }
    }

    /// The certificates in a file of certificates, or in the CMS objects of another file; none for PKCS#12.
    package var certificates: [Certificate] {
        guard case .certificates(let items) = subject else { return outlines.flatMap(\.certificates) }
        return items.compactMap { if case .certificate(let certificate) = $0 { certificate } else { nil } }
    }
}

extension Inspection.Part {
    fileprivate var outlines: [CMSOutline] { (layer?.outlines ?? []) + parts.flatMap(\.outlines) }
}

extension Inspection.Layer {
    fileprivate var outlines: [CMSOutline] {
        switch content {
        case .part(let part): [outline] + part.outlines
        case .layer(let layer): [outline] + layer.outlines
        case nil: [outline]
        }
    }
}

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
