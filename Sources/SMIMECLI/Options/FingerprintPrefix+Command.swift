import ArgumentParser
import PKIX

extension FingerprintPrefix: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// The only one of `fingerprints` with this prefix.
    ///
    /// - Throws: `Failure` with status 67 if no fingerprint has the prefix, 64 if several have it.
    func only(among fingerprints: [Fingerprint]) throws -> Fingerprint {
        let found = matches(among: fingerprints).sorted()
        guard let first = found.first else { throw Failure(.noUser, "\(self): no such certificate") }
        guard found.count == 1 else {
            throw Failure(
                .usage,
                "\(self): \(found.count) fingerprints begin with it: "
                    + found.prefix(Self.shownCount).map { "\($0)" }.joined(separator: ", "),
                hints: ["give more of its digits"]
            )
        }
        return first
    }

    /// Why a prefix is rejected when trust depends on it: others can generate a certificate with the same prefix.
    var tooShort: String {
        "\(self): others can make a certificate whose fingerprint begins like this; give the whole fingerprint to trust one"
    }

    /// The whole fingerprint.
    ///
    /// - Throws: `Failure` with status 64 if this is only a prefix.
    func complete() throws -> Fingerprint {
        guard let whole else {
            throw Failure(.usage, tooShort, hints: ["a whole fingerprint is sha256: and 64 hexadecimal digits"])
        }
        return whole
    }

    /// Rejects a prefix on which trust depends, unless a person at the terminal can compare the rest.
    ///
    /// - Throws: `Failure` with status 64
    func checkForTrust() throws {
        guard whole == nil, !Terminal.isInteractive else { return }
        throw Failure(
            .usage,
            tooShort,
            hints: [
                "a whole fingerprint is sha256: and 64 hexadecimal digits; at a terminal the first 8 are enough: the command shows the rest and asks"
            ]
        )
    }

    /// The most candidates that are shown.
    private static let shownCount = 8
}

extension ArgumentHelp {
    /// The help of an option that selects a certificate of the store.
    static func fingerprint(_ text: String, valueName: String = "fpr") -> ArgumentHelp {
        ArgumentHelp("\(text) (8 or more digits).", valueName: valueName)
    }
}
