package import LibCrypto
import PKIX

/// The source of passphrases for imported files.
package protocol ImportPassphrases {
    /// Whether one passphrase was given for all of them; else it is asked for.
    var isGiven: Bool { get }

    /// The passphrase of the file at `path`; `-` is standard input.
    func passphrase(for path: String) throws -> Passphrase

    /// Reports that the passphrase of the file at `path` was wrong, before it is asked for again.
    func noteWrongPassphrase(for path: String)
}

/// The passphrase for the files of one import: the one that was given, for all of them, or one typed for each.
final class ImportPassphrase {
    private let source: any ImportPassphrases
    private var given: Passphrase?

    /// How often a passphrase may be typed: as often as that of a store.
    private static let tries = 2

    init(_ source: any ImportPassphrases) { self.source = source }

    /// Lends the passphrase of `file` to `body`. Without a given one, `body` first runs with none, which opens files with an empty
    /// passphrase, too.
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
