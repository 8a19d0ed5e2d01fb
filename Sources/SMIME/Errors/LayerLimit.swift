/// The limit for nested layers of protection.
package enum LayerLimit {
    /// The maximum number of nested layers in one message.
    package static let count = 8
}
