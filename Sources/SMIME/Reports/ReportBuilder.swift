import PKIX

/// Collects a report while a message is read. `report` is the result as a `VerificationReport`.
struct ReportBuilder: Sendable {
    typealias Layer = VerificationReport.Layer
    typealias Signer = VerificationReport.Signer

    /// How much of the message the signatures cover.
    var coverage = VerificationReport.Coverage.none
    /// The header fields inside the protection; nil if there are none or they were not read.
    var headers: HeaderReport?
    /// Every layer that was found, the outermost first.
    private(set) var layers: [Layer] = []
    /// The problems of the message as a whole.
    private(set) var problems: [Problem] = []
    /// Whether a problem of the message as a whole is an error.
    private(set) var isFaulty = false
    /// Whether the message contradicts its own header.
    private(set) var isMalformed = false
    /// The warning about encryption that was not decrypted; nil if there is none.
    private(set) var undecrypted: Problem?
    /// Whether the message has no content, but brings certificates.
    var hasOnlyCertificates = false

    /// The report on the layers so far.
    var report: VerificationReport { VerificationReport(self) }

    /// The signers who determine the verdict, those of the outermost signature first.
    var signers: [Signer] { layers.filter(\.isDecisive).flatMap(\.signers) }

    /// Adds a problem of the message as a whole.
    mutating func note(_ problem: Problem) {
        problems.append(problem)
        isFaulty = isFaulty || problem.level == .error
    }

    /// Adds a warning about encryption that was not decrypted.
    mutating func noteUndecrypted(_ text: String) {
        let warning = Problem(.encrypted, text)
        undecrypted = undecrypted ?? warning
        note(warning)
    }

    /// Adds several problems of the message as a whole.
    mutating func note(_ problems: some Sequence<Problem>) { for problem in problems { note(problem) } }

    /// Adds an error about the message to the report as a problem. Any other error is rethrown.
    mutating func note(_ error: any Error) throws {
        note(try Problem(describing: error))
        isMalformed = true
    }

    /// Adds a layer inside the previous layers.
    ///
    /// - Parameter isPart: see `Layer.isPart`.
    mutating func add(_ layer: Layer, signers: [Signer] = [], isPart: Bool = false) {
        var layer = layer
        layer.signers = signers
        layer.isPart = isPart
        layer.isInsideEncryption = !isPart && layers.contains { $0.kind.isEncryption }
        let around = layers.reversed().prefix { !$0.kind.isEncryption }
        layer.isDecisive = !signers.isEmpty && (isPart || around.allSatisfy(\.signers.isEmpty))
        layers.append(layer)
    }

    /// Adds the result of `mismatch` to each signer who determines the verdict and is not the sender.
    mutating func addMismatches(_ mismatch: (Signer) -> SignerIdentity.Mismatch?) {
        for layer in layers.indices where layers[layer].isDecisive {
            for index in layers[layer].signers.indices {
                guard let found = mismatch(layers[layer].signers[index]) else { continue }
                layers[layer].signers[index].recordMismatch(found)
            }
        }
    }

    /// Marks other people who signed exactly the same content as the sender as cosigners.
    ///
    /// Other signatures do not weaken the sender's signature: they add a name and no content. The caller calls this after all
    /// signers were added.
    mutating func noteCosigners() {
        for layer in layers.indices where layers[layer].signers.contains(where: { $0.isGood && $0.identity.ok == true })
        {
            for index in layers[layer].signers.indices { layers[layer].signers[index].acceptAsCosigner() }
        }
    }
}
