/// How deep protection may be nested.
package enum LayerLimit {
    /// The most layers around each other in one message.
    package static let count = 8
}
