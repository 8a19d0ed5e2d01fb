/// How much key derivation one file may ask for; spent before the work is done, so that a bomb is refused at once.
struct DerivationBudget {
    /// Iterations over a whole file. A PBKDF2 iteration and one unit of scrypt's `N * r * p` count alike.
    static let maximumIterations = 2_000_000

    private(set) var remaining = Self.maximumIterations

    /// Takes `iterations` out of the budget.
    mutating func spend(_ iterations: Int) throws(CMSError) {
        guard iterations <= remaining else { throw .limitExceeded("key derivation iterations") }
        remaining -= iterations
    }
}
