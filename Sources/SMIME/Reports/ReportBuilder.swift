import ByteStreams
import InternetMessage
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
    /// Whether the message or a CMS object in it cannot be read as S/MIME; see `VerificationReport.Status.malformed`.
    private(set) var isMalformed = false
    /// The warning about encryption that was not decrypted; nil if there is none.
    private(set) var undecrypted: Problem?
    /// Whether the message has no content, but contains certificates.
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

    /// Adds an error about the message to the report as a problem, and marks the message as malformed. Any other error is
    /// rethrown.
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
        layer.isInsideEncryption = layers.contains { $0.kind.isEncryption && !$0.isPart }
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

    /// Compares the signers in the layers from `start` on, which are in an attached message, with the sender in `header`, which
    /// is that of the whole message.
    mutating func compareSigners(from start: Int, withSenderIn header: HeaderBlock) {
        let sender = SignerIdentity(header)
        for layer in layers.indices.dropFirst(start) {
            for index in layers[layer].signers.indices { layers[layer].signers[index].compare(withSender: sender) }
        }
    }

    /// Marks as cosigners the other people who signed exactly the same content as the sender.
    ///
    /// Other signatures do not weaken the sender's signature: they add a name and no content. Call this after all signers
    /// were added.
    mutating func noteCosigners() {
        for layer in layers.indices where layers[layer].signers.contains(where: { $0.isGood && $0.identity.ok == true })
        {
            for index in layers[layer].signers.indices { layers[layer].signers[index].acceptAsCosigner() }
        }
    }
}

extension ReportBuilder {
    /// Adds warnings about the MIME structure around the signed content. An mbox From line causes no warning.
    mutating func note(_ defects: Set<MIMEDefect>) {
        let warnings = defects.filter { !$0.isError && $0 != .mboxLine }.sorted { $0.rawValue < $1.rawValue }
        note(warnings.map(Problem.init))
    }

    /// Adds the protected header fields of the message with the outer header `outer`.
    ///
    /// A signature that was judged before these fields could be read must be by the author in these fields, too.
    mutating func note(_ protected: ProtectedHeader?, outer: HeaderBlock) {
        guard let protected else { return }
        // The signer of ciphertext need not know the fields inside it.
        let encryption = layers.lastIndex { $0.kind.isEncryption && !$0.isPart }
        let signers = layers[(encryption.map { $0 + 1 } ?? 0)...].filter(\.isDecisive).flatMap(\.signers)
        let headers = HeaderReport(
            protected,
            outer: outer,
            isSigned: !signers.isEmpty && signers.allSatisfy { $0.integrity.ok == true },
            isEncrypted: layers.contains { $0.kind.isEncryption }
        )
        self.headers = headers
        note(headers.problems)
        // Sender was already compared when the signature was judged with the caller's exceptions, so it is accepted here.
        let identity = SignerIdentity(outer, protected: protected, exceptions: .sender)
        addMismatches { $0.certificate.flatMap(identity.protectedMismatch) }
        if !signers.isEmpty { note(identity.unsignedFromProblems) }
    }

    /// Adds the problems of the last layer, if it is a signature inside another signature.
    mutating func noteInnerSignature() {
        guard let layer = layers.last, !layer.isPart, layers.dropLast().contains(where: { !$0.signers.isEmpty }) else {
            return
        }
        if layer.signers.contains(where: { !$0.integrity.holds }) {
            note(Problem(.innerSignature, "a signature inside another is not valid"))
        }
        // The report already judges the identity of signers who determine the verdict.
        guard !layer.isDecisive else { return }
        let others = layer.signers.filter { $0.identity.ok == false }.map(\.name.escapedForDisplay)
        guard !others.isEmpty else { return }
        let text = "a signature inside another is by \(others.joined(separator: ", "))"
        note(Problem(.innerSigner, text))
    }

    /// Adds the warning that a layer inside a signature cannot be read.
    mutating func noteUnreadableLayer() {
        let text = "a layer inside the signature cannot be read, so what it contains is unknown"
        note(Problem(warning: .innerSignature, text))
    }

    /// Adds a warning if the encrypted object is signed, but nothing inside the encryption is.
    mutating func noteOuterSignature() {
        guard let encryption = layers.lastIndex(where: { $0.kind.isEncryption }),
            layers[..<encryption].contains(where: { !$0.signers.isEmpty }),
            layers[encryption...].allSatisfy(\.signers.isEmpty)
        else { return }
        let text = "only the encrypted object is signed, maybe by a person who does not know its content"
        note(Problem(.signatureOutside, text))
    }

    /// Adds a warning if the signature covers ciphertext that was not decrypted: the signer need not know the plaintext.
    mutating func noteSignedCiphertext() {
        guard let encryption = layers.lastIndex(where: { $0.kind.isEncryption && !$0.isPart }),
            layers[..<encryption].contains(where: { !$0.signers.isEmpty })
        else { return }
        let text = "the encrypted object is signed; decrypt it to see whether its content is signed, too"
        noteUndecrypted(text)
    }
}
