import ByteStreams
import InternetMessage

/// An entity and the source that contains its bytes.
struct LocatedEntity: Sendable {
    let entity: Entity
    let source: any ByteSource
}
