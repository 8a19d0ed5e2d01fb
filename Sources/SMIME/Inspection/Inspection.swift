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
        /// The problems of this part, without the problems of its layer and its parts.
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

    /// The content of a signed object.
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
