package import LibCrypto
package import SwiftASN1

/// A key derivation function with its parameters, as in PBES2 and PBMAC1.
///
/// RFC 8018 §5.2 and appendix A.2, RFC 7914 §7
package enum KeyDerivation: Equatable, Sendable {
    /// PBKDF2 with HMAC; `digest` is libcrypto's name of the digest.
    case pbkdf2(salt: [UInt8], iterations: Int, keyCount: Int?, digest: String)
    case scrypt(salt: [UInt8], cost: Int, blockSize: Int, parallelization: Int, keyCount: Int?)

    package static let pbkdf2OID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 12]
    private static let scryptOID: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 11591, 4, 11]
    private static let maximumSalt = 4096

    package init(_ identifier: AlgorithmIdentifier) throws {
        guard let parameters = identifier.parameters else {
            throw ElementReader.Mismatch(description: "key derivation without parameters")
        }
        var fields = try ElementReader(ASN1Node.read(parameters))
        switch identifier.algorithm {
        case Self.pbkdf2OID:
            let salt = try Self.salt(fields.next(.octetString))
            let iterations = try fields.next(.integer).integer()
            let keyCount = try fields.optional(.integer)?.integer(upTo: 1024)
            let prf = try fields.optional(.sequence).map { try AlgorithmIdentifier(berEncoded: $0).algorithm }
            guard iterations > 0 else { throw ElementReader.Mismatch(description: "no iterations") }
            let digest = try prf.map(Self.digest) ?? "SHA1"
            self = .pbkdf2(salt: salt, iterations: iterations, keyCount: keyCount, digest: digest)
        case Self.scryptOID:
            let scrypt = Self.scrypt(
                salt: try Self.salt(fields.next(.octetString)),
                cost: try fields.next(.integer).integer(),
                blockSize: try fields.next(.integer).integer(),
                parallelization: try fields.next(.integer).integer(),
                keyCount: try fields.optional(.integer)?.integer(upTo: 1024)
            )
            guard scrypt.isDefined else {
                throw ElementReader.Mismatch(description: "parameters for which scrypt is not defined")
            }
            self = scrypt
        default: throw CMSError.unsupported("key derivation \(identifier.algorithm)")
        }
    }

    /// Whether the function is defined for the parameters.
    ///
    /// RFC 7914 §6
    private var isDefined: Bool {
        guard case .scrypt(_, let cost, let blockSize, let parallelization, _) = self else { return true }
        return cost > 1 && cost.nonzeroBitCount == 1 && blockSize > 0 && parallelization > 0
    }

    /// The key length in bytes that the parameters specify; nil if they specify none.
    package var keyCount: Int? {
        switch self {
        case .pbkdf2(_, _, let count, _), .scrypt(_, _, _, _, let count): count
        }
    }

    /// The cost of deriving `count` bytes, which the caller spends from a budget.
    ///
    /// - Throws: `CMSError.limitExceeded` if scrypt needs more than 32 MiB of memory, or if its `p` exceeds 64.
    package func cost(count: Int) throws(CMSError) -> DerivationCost {
        switch self {
        case .pbkdf2(_, let iterations, _, let digest):
            return DerivationCost(iterations, count: count, blockCount: Self.byteCount(of: digest))
        case .scrypt(_, let cost, let blockSize, let parallelization, _):
            let limit = 1 << 18
            guard cost <= limit, blockSize <= limit, parallelization <= 64, cost * blockSize <= limit else {
                throw .limitExceeded("scrypt parameters")
            }
            return DerivationCost(cost * blockSize * parallelization, count: 1, blockCount: 1)
        }
    }

    /// Derives `count` bytes from `passphrase`. The caller must have spent the cost from a budget.
    package func derive(_ passphrase: SecretBytes, count: Int) throws(OpenSSLError) -> SecretBytes {
        switch self {
        case .pbkdf2(let salt, let iterations, _, let digest):
            try PasswordDerivation.pbkdf2(passphrase, digest, salt: salt, iterations: iterations, count: count)
        case .scrypt(let salt, let cost, let blockSize, let parallelization, _):
            try PasswordDerivation.scrypt(
                passphrase,
                salt: salt,
                cost: cost,
                blockSize: blockSize,
                parallelization: parallelization,
                count: count
            )
        }
    }

    static func salt(_ node: ASN1Node) throws -> [UInt8] {
        let salt = try node.octets()
        guard salt.count <= maximumSalt else { throw CMSError.limitExceeded("salt") }
        return salt
    }

    /// The length in bytes of the digest that libcrypto calls `name`.
    private static func byteCount(of name: String) -> Int {
        switch name {
        case "MD5": 16
        case "SHA1": 20
        case "SHA2-224", "SHA2-512/224": 28
        case "SHA2-256", "SHA2-512/256": 32
        case "SHA2-384": 48
        default: 64
        }
    }

    /// libcrypto's name of the digest in an `hmacWith…` algorithm.
    static func digest(_ prf: ASN1ObjectIdentifier) throws -> String {
        switch prf {
        case [1, 2, 840, 113549, 2, 6], [1, 3, 6, 1, 5, 5, 8, 1, 1]: "MD5"
        case [1, 2, 840, 113549, 2, 7]: "SHA1"
        case [1, 2, 840, 113549, 2, 8]: "SHA2-224"
        case [1, 2, 840, 113549, 2, 9]: "SHA2-256"
        case [1, 2, 840, 113549, 2, 10]: "SHA2-384"
        case [1, 2, 840, 113549, 2, 11]: "SHA2-512"
        case [1, 2, 840, 113549, 2, 12]: "SHA2-512/224"
        case [1, 2, 840, 113549, 2, 13]: "SHA2-512/256"
        default: throw CMSError.unsupported("HMAC \(prf)")
        }
    }
}

/// The maximum cost of key derivation for one file. The cost is spent before the derivation, so that a malicious file is
/// rejected without delay.
package struct DerivationBudget {
    /// The default maximum of iterations that a file may specify. One unit of scrypt's `N * r * p` is counted like one PBKDF2
    /// iteration.
    static let maximumIterations = 2_000_000
    /// The maximum of iterations that are run: the specified iterations once for each block of a derived key, and again for
    /// each further form of the passphrase.
    static let maximumRuns = 2 * maximumIterations

    /// libcrypto's own maximum, which no option can exceed.
    static let libcryptoMaximumIterations = Int(Int32.max)

    /// The name of this limit in errors.
    static let name = "key derivation iterations"

    private var iterations: Int
    private var runs: Int

    /// - Parameter iterations: how many iterations a file may specify. Up to twice as many are run.
    package init(iterations: Int = maximumIterations) { (self.iterations, runs) = (iterations, 2 * iterations) }

    /// A budget with a limit chosen by the caller, reduced to libcrypto's maximum.
    init(allowing iterations: Int) { self.init(iterations: min(max(0, iterations), Self.libcryptoMaximumIterations)) }

    /// Spends the cost of deriving a key.
    package mutating func spend(_ cost: DerivationCost) throws(CMSError) {
        guard cost.iterations <= iterations, cost.runs <= runs else {
            throw .limitExceeded(Self.name)
        }
        iterations -= cost.iterations
        runs -= cost.runs
    }

    /// Whether a derivation whose cost was already spent may be repeated with another form of the passphrase.
    mutating func trySpendAgain(_ cost: DerivationCost) -> Bool {
        guard cost.runs <= runs else { return false }
        runs -= cost.runs
        return true
    }
}

/// The cost of deriving a key.
package struct DerivationCost {
    /// The iterations that the parameters specify.
    let iterations: Int
    /// The iterations that are run.
    let runs: Int

    /// The cost of a key of `count` bytes: the function makes `blockCount` bytes at a time, and each time runs `iterations`
    /// iterations.
    init(_ iterations: Int, count: Int, blockCount: Int) {
        // A number that exceeds libcrypto's maximum is reduced to that maximum plus one, so that no sum overflows.
        self.iterations = min(iterations, DerivationBudget.libcryptoMaximumIterations + 1)
        runs = self.iterations * max(1, (count + blockCount - 1) / blockCount)
    }
}
