import Foundation

/// A variable in the memory of the environment. Use while there is one thread.
struct EnvironmentVariable {
    private let name: String
    private let value: UnsafeMutableRawBufferPointer

    /// The variable `name`; nil if there is none.
    init?(_ name: String) {
        guard let value = getenv(name) else { return nil }
        self.name = name
        self.value = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
    }

    /// Lends the value.
    func withValue<Result: ~Copyable>(_ body: (Span<UInt8>) -> Result) -> Result { body(Span(_unsafeBytes: value)) }

    /// Lends `NAME=value` and the zero byte behind it, between which the value lies. environ(7)
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
