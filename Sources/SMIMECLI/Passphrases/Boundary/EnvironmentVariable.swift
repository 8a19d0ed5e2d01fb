import Foundation

/// An environment variable in its place in memory. Use this while the process has one thread.
struct EnvironmentVariable {
    private let name: String
    private let value: UnsafeMutableRawBufferPointer

    /// The variable `name`; nil if there is none.
    init?(_ name: String) {
        guard let value = getenv(name) else { return nil }
        self.name = name
        self.value = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
    }

    /// Lends the value to `body`.
    func withValue<Result: ~Copyable>(_ body: (Span<UInt8>) -> Result) -> Result { body(Span(_unsafeBytes: value)) }

    /// Lends the whole entry to `body`: `NAME=value` and the zero byte after it. environ(7)
    func withEntry<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let before = name.utf8.count + 1
        let start = value.baseAddress.map { UnsafeRawPointer($0) - before }
        return body(Span(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: before + value.count + 1)))
    }

    /// Overwrites the value, and removes the variable.
    func erase() {
        value.initializeMemory(as: UInt8.self, repeating: 0)
        unsetenv(name)
    }
}
