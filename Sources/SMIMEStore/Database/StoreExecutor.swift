/// Knows whether the running code is the store's own: its opening, or the body of one of its transactions.
///
/// Code that waits there for the store would wait for itself.
enum StoreExecutor {
    @TaskLocal private static var isInside = false

    /// Whether waiting for the store, on this thread or in this task, could never end.
    static var isCurrent: Bool { isInside }

    /// Runs `body` as the store's own.
    static func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $isInside.withValue(true, operation: body)
    }
}
