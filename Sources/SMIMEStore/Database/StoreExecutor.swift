/// Knows whether the current code is run by the store itself: while it is being opened, or in the body of a transaction.
///
/// Such code must not wait for the store, because it would wait for itself.
enum StoreExecutor {
    @TaskLocal private static var isInside = false

    /// Whether code on this thread or in this task would wait for the store forever.
    static var isCurrent: Bool { isInside }

    /// Runs `body` as code of the store itself.
    static func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $isInside.withValue(true, operation: body)
    }
}
