import ArgumentParser
import SMIME

/// For verbs whose verdict may pass over what spoils it by default.
struct AcceptanceOptions: ParsableArguments {
    @Flag(
        help: """
            Take a signer whom only the field Sender names for the author, with a warning. (default: by the setting \
            verify.accept-sender)
            """
    )
    var acceptSender = false
    @Flag(
        help: """
            Take SHA-1 and keys under 2048 bits, with a warning, as for old mail. (default: by the setting \
            verify.accept-weak)
            """
    )
    var acceptWeak = false

    /// What is accepted beside what the settings accept.
    var exceptions: VerdictExceptions {
        var exceptions: VerdictExceptions = []
        if acceptSender { exceptions.insert(.sender) }
        if acceptWeak { exceptions.insert(.weakAlgorithms) }
        return exceptions
    }
}

extension AcceptanceOptions: WordReadable {
    mutating func read(_ words: inout WordReader) throws {
        acceptSender = words.flag("--accept-sender")
        acceptWeak = words.flag("--accept-weak")
    }
}
