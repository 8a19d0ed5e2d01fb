package import ByteStreams
package import InternetMessage

/// An entity and the source that contains its bytes.
package struct LocatedEntity: Sendable {
    package let entity: Entity
    package let source: any ByteSource

    package init(entity: Entity, source: any ByteSource) {
        self.entity = entity
        self.source = source
    }

    /// Reads the structure of the message in `source`.
    ///
    /// - Throws: the errors of `MIMEReader.message(in:range:)`
    package init(reading source: any ByteSource) throws(MIMEError) {
        self.init(entity: try MIMEReader.message(in: source), source: source)
    }

    /// Reads the header of the message in `source`, which is `message` with other header fields.
    ///
    /// - Throws: the errors of `MIMEReader.message(in:afterChangeTo:)`
    package init(reading source: any ByteSource, afterChangeTo message: Entity) throws(MIMEError) {
        self.init(entity: try MIMEReader.message(in: source, afterChangeTo: message), source: source)
    }
}
