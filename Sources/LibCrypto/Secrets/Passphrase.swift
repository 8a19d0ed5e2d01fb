import COpenSSL

/// A passphrase that is stored in one place and wiped when the value is destroyed.
///
/// A passphrase cannot be printed, compared, or copied implicitly; it can only be lent, or copied with `copy()`. The caller
/// must wipe the bytes from which the passphrase was created.
public struct Passphrase: ~Copyable, Sendable {
    private nonisolated(unsafe) let characters: UnsafeMutableBufferPointer<UInt8>

    /// Copies the UTF-8 of a passphrase.
    public init(_ utf8: some Collection<UInt8>) {
        characters = .allocate(capacity: utf8.count + 1)
        let end = characters.initialize(fromContentsOf: utf8)
        characters.initializeElement(at: end, to: 0)
    }

    /// Copies the UTF-8 of a passphrase.
    package init(_ utf8: Span<UInt8>) { self = utf8.withUnsafeBufferPointer { Passphrase($0) } }

    /// Whether the passphrase has no characters.
    public var isEmpty: Bool { characters.count == 1 }

    deinit {
        OPENSSL_cleanse(characters.baseAddress, characters.count)
        characters.deallocate()
    }

    /// An independent copy of the passphrase, which is wiped separately.
    public borrowing func copy() -> Passphrase {
        Passphrase(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(characters).dropLast()))
    }

    /// Lends the UTF-8 bytes, without a terminator, to `body`.
    package func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Span(_unsafeElements: UnsafeBufferPointer(characters).dropLast()))
    }

    /// Lends the UTF-8 bytes, without a terminator, to `body`, which passes them to libcrypto.
    func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(characters).dropLast()))
    }
}
