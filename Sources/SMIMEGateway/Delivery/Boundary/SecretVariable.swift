import LibCrypto

/// A variable with a passphrase. It is not in this process's environment; `ChildProgram` puts it into the child's
/// environment.
package final class SecretVariable: Sendable {
    private let entry: Passphrase

    /// Copies `entry`, which is `NAME=value` and a zero byte; the copy is wiped after use.
    package init(entry: Span<UInt8>) { self.entry = Passphrase(entry) }

    /// Passes the entries of `variables` to a closure, in the form that an environment has.
    static func withEntries<Result>(
        of variables: ArraySlice<SecretVariable>,
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        guard let last = variables.last else { return body([]) }
        return last.entry.withBytes { bytes in
            bytes.withUnsafeBytes { entry in
                let entry = entry.baseAddress?.assumingMemoryBound(to: CChar.self)
                return withEntries(of: variables.dropLast()) { body($0 + [entry.map { .init(mutating: $0) }]) }
            }
        }
    }
}
