import LibCrypto

/// A variable that holds a passphrase and is in no environment, until a `ChildProgram` gets it in its own.
package final class SecretVariable: Sendable {
    private let entry: Passphrase

    /// Copies `entry`, which is `NAME=value` and a zero byte; the copy is wiped after use.
    package init(entry: Span<UInt8>) { self.entry = Passphrase(entry) }

    /// Lends the entries of `variables`, as an environment holds them.
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
