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
    static let mostIterations = Int(Int32.max)

    /// The name of this limit in errors.
    static let name = "key derivation iterations"

    private var iterations: Int
    private var runs: Int

    /// - Parameter iterations: how many iterations a file may specify. Up to twice as many are run.
    package init(iterations: Int = maximumIterations) { (self.iterations, runs) = (iterations, 2 * iterations) }

    /// A budget with a limit chosen by the caller, reduced to libcrypto's maximum.
    init(allowing iterations: Int) { self.init(iterations: min(max(0, iterations), Self.mostIterations)) }

    /// Spends the cost of deriving a key.
    package mutating func spend(_ cost: DerivationCost) throws(CMSError) {
        guard cost.iterations <= iterations, cost.runs <= runs else {
            throw .limitExceeded(Self.name)
        }
        iterations -= cost.iterations
        runs -= cost.runs
    }

    /// Whether a derivation whose cost was already spent may be repeated with another form of the passphrase.
    mutating func repeats(_ cost: DerivationCost) -> Bool {
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
        self.iterations = min(iterations, DerivationBudget.mostIterations + 1)
        runs = self.iterations * max(1, (count + blockCount - 1) / blockCount)
    }
}
