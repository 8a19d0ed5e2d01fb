import PKIX

/// A report while a message is read; what leaves the module is the `VerificationReport` that it becomes.
struct ReportBuilder: Sendable {
    typealias Layer = VerificationReport.Layer
    typealias Signer = VerificationReport.Signer

    /// How much of the message the signatures are over.
    var coverage = VerificationReport.Coverage.none
    /// The header fields inside the protection.
    var headers: HeaderReport?
    /// Every layer that was seen, the outermost first.
    private(set) var layers: [Layer] = []
    /// The problems of the message as a whole.
    private(set) var problems: [Problem] = []
    /// Whether one of them is an error.
    private(set) var isFaulty = false
    /// Whether the message is not even what it claims to be.
    private(set) var isMalformed = false

    /// The report on what was seen so far.
    var report: VerificationReport { VerificationReport(self) }

    /// The signers that the verdict depends on, those of the outermost signature first.
    var signers: [Signer] { layers.filter(\.isDecisive).flatMap(\.signers) }

    /// Adds what is wrong with the message as a whole.
    mutating func note(_ problem: Problem) {
        problems.append(problem)
        isFaulty = isFaulty || problem.level == .error
    }

    /// Adds several.
    mutating func note(_ problems: some Sequence<Problem>) { for problem in problems { note(problem) } }

    /// Takes an error that says what is wrong with the message into the report; any other is thrown on.
    mutating func note(_ error: any Error) throws {
        note(try Problem(tellingOf: error))
        isMalformed = true
    }

    /// Adds a layer inside those that are there.
    ///
    /// - Parameter isPart: as in `Layer`.
    mutating func add(_ layer: Layer, signers: [Signer] = [], isPart: Bool = false) {
        var layer = layer
        layer.signers = signers
        layer.isPart = isPart
        layer.isInsideEncryption = !isPart && layers.contains { $0.kind.isEncryption }
        let around = layers.reversed().prefix { !$0.kind.isEncryption }
        layer.isDecisive = !signers.isEmpty && (isPart || around.allSatisfy(\.signers.isEmpty))
        layers.append(layer)
    }

    /// Adds what `strangeness` finds to each decisive signer who is not the sender.
    mutating func addStrangers(_ strangeness: (Signer) -> SignerIdentity.Strangeness?) {
        for layer in layers.indices where layers[layer].isDecisive {
            for index in layers[layer].signers.indices {
                guard let found = strangeness(layers[layer].signers[index]) else { continue }
                layers[layer].signers[index].becomeStranger(found)
            }
        }
    }

    /// Marks signers who signed exactly the same content as the sender, and are other people, as cosigners.
    ///
    /// Other signatures do not weaken the sender's own: adding one adds a name and no content. Called when all signers
    /// are known.
    mutating func noteCosigners() {
        for layer in layers.indices where layers[layer].signers.contains(where: { $0.isGood && $0.identity.ok == true })
        {
            for index in layers[layer].signers.indices { layers[layer].signers[index].becomeCosigner() }
        }
    }
}
