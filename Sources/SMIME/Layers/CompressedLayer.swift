import ByteStreams
import CMSSyntax
import InternetMessage

/// A compressed entity whose structure was read up to the content.
///
/// RFC 8551 §3.6
struct CompressedLayer: Sendable {
    private let data: CompressedData

    init(cms stream: ByteStream) throws { data = try CompressedData(reading: stream) }

    /// The entry for this layer in the report.
    static let layer = VerificationReport.Layer(kind: .compressed, algorithm: "zlib", problems: [])

    /// The decompressed content, stored in a temporary file.
    func content() throws -> LocatedEntity {
        let spool = Spool()
        try data.content.makeReader().copy(to: spool)
        let source = try spool.finish()
        return try LocatedEntity(reading: source)
    }
}
