import ArgumentParser
import SMIMEAgent
import SMIMEStore

/// Options for verbs with levels of signing and encryption.
struct LevelOptions: ParsableArguments {
    @Option(help: "Signing: never, available (if possible) or require (otherwise the mail is not sent).")
    var sign: Policy.Level?
    @Option(help: "Encryption: never, available (if possible) or require (otherwise the mail is not sent).")
    var encrypt: Policy.Level?

    var request: ProtectionRequest { ProtectionRequest(sign: sign, encrypt: encrypt) }
}
