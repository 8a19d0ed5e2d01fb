/// Knows whether the running code is the store's own: its opening, or the body of one of its transactions.
///
/// Who waits there for the store waits for himself.
enum StoreExecutor {
    @TaskLocal private static var isInside = false

    /// Whether waiting for the store, on this thread or in this task, could never end.
    static var isCurrent: Bool { isInside }

    /// Runs `body` as the store's own.
    static func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $isInside.withValue(true, operation: body)
    }
}
