import ArgumentParser
import PKIX

extension FingerprintPrefix: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    /// The one of `fingerprints` that begins so.
    ///
    /// - Throws: `Failure` with status 67 if none does, with 64 if several do.
    func only(among fingerprints: [Fingerprint]) throws -> Fingerprint {
        let found = matches(among: fingerprints)
        guard let first = found.first else { throw Failure(.noUser, "\(self): no such certificate here") }
        guard found.count == 1 else {
            throw Failure(.usage, "\(self): \(found.count) fingerprints begin so", hints: ["give more of its digits"])
        }
        return first
    }
}
