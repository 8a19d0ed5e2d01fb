package import LibCrypto
import PKIX

/// Supplies passphrases for imported files.
package protocol ImportPassphrases {
    /// Whether one passphrase was given for all files; otherwise the user is asked for each.
    var isGiven: Bool { get }

    /// The passphrase of the file at `path`; `-` is standard input.
    func passphrase(for path: String) throws -> Passphrase

    /// Reports that the passphrase of the file at `path` was wrong, before the user is asked again.
    func noteWrongPassphrase(for path: String)
}

/// The passphrase for the files of one import: one given passphrase for all files, or one that the user types for each file.
final class ImportPassphrase {
    private let source: any ImportPassphrases
    private var given: Passphrase?

    /// How many times a passphrase may be typed: as many times as the passphrase of a store.
    private static let tries = 2

    init(_ source: any ImportPassphrases) { self.source = source }

    /// Lends the passphrase of `file` to `body`. If no passphrase was given, `body` is first called with nil, which also
    /// opens files with an empty passphrase.
    func open<Value>(
        _ file: String,
        isLocked: Bool,
        _ body: (borrowing Passphrase?) throws(CMSError) -> Value
    ) throws -> Value {
        if isLocked, source.isGiven {
            if given == nil { given = try source.passphrase(for: file) }
            return try body(given)
        }
        do { return try body(nil) } catch CMSError.wrongPassphrase {
            guard !source.isGiven else { return try body(try source.passphrase(for: file)) }
        }
        for _ in 1..<Self.tries {
            do { return try body(try source.passphrase(for: file)) } catch CMSError.wrongPassphrase {
                source.noteWrongPassphrase(for: file)
            }
        }
        return try body(try source.passphrase(for: file))
    }
}
