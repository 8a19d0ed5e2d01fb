import ByteStreams
import InternetMessage

/// An entity and where its bytes are.
struct LocatedEntity: Sendable {
    let entity: Entity
    let source: any ByteSource
}
