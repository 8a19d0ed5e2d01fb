/// How much key derivation one file may ask for; spent before the work is done, so that a bomb is refused at once.
package struct DerivationBudget {
    /// Iterations that a whole file may name. A PBKDF2 iteration and one unit of scrypt's `N * r * p` count alike.
    static let maximumIterations = 2_000_000
    /// Iterations that may be run for it: once for each block of a derived key, and again for each other form of the
    /// passphrase.
    static let maximumRuns = 2 * maximumIterations

    /// libcrypto's own maximum, which no option can raise.
    static let mostIterations = Int(Int32.max)

    /// The name of the limit in errors.
    static let name = "key derivation iterations"

    private var iterations: Int
    private var runs: Int

    /// - Parameter iterations: how many a file may name. Twice as many may be run.
    package init(iterations: Int = maximumIterations) { (self.iterations, runs) = (iterations, 2 * iterations) }

    /// The budget for a file with a caller's limit, at most libcrypto's own maximum.
    init(allowing iterations: Int) { self.init(iterations: min(max(0, iterations), Self.mostIterations)) }

    /// Takes what deriving a key costs out of the budget.
    package mutating func spend(_ cost: DerivationCost) throws(CMSError) {
        guard cost.iterations <= iterations, cost.runs <= runs else {
            throw .limitExceeded(Self.name)
        }
        iterations -= cost.iterations
        runs -= cost.runs
    }

    /// Whether a derivation that was paid for may be done once more, with another form of the passphrase.
    mutating func repeats(_ cost: DerivationCost) -> Bool {
        guard cost.runs <= runs else { return false }
        runs -= cost.runs
        return true
    }
}

/// The cost of deriving a key.
package struct DerivationCost {
    /// The iterations that the parameters name.
    let iterations: Int
    /// How many are run.
    let runs: Int

    /// `iterations` for each block of `blockCount` bytes in `count`.
    init(_ iterations: Int, count: Int, blockCount: Int) {
        // Counts beyond what libcrypto accepts are treated as that maximum, so that nothing overflows.
        self.iterations = min(iterations, DerivationBudget.mostIterations + 1)
        runs = self.iterations * max(1, (count + blockCount - 1) / blockCount)
    }
}
