import ArgumentParser
import ByteStreams
import Foundation
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

/// Options for verbs that also read CMS objects outside of mail: the form of the input.
struct FormOptions: ParsableArguments {
    /// The form of an input.
    enum InputForm: String, Choice {
        case auto, mime, der, pem
    }

    /// The form of an output.
    enum OutputForm: String, Choice {
        case mime, der, pem
    }

    @Option(name: .customLong("inform"), help: .inform) var given: InputForm?

    var inform: InputForm { given ?? .auto }
}

extension FormOptions.InputForm {
    /// The bytes of a CMS object without MIME; nil if the input is mail.
    func object(in source: any ByteSource) throws -> ByteStream? {
        switch self {
        case .mime: return nil
        case .der: return source.stream()
        case .pem: return try PEMObject.stream(of: source)
        case .auto:
            if try isPEM(source) { return try PEMObject.stream(of: source) }
            return try isDER(source) ? source.stream() : nil
        }
    }

    /// Warnings about the bytes around the object that `object(in:)` reads.
    func surroundings(in source: any ByteSource) throws -> [Problem] {
        try isPEM(source) ? PEMObject.surroundings(of: source) : []
    }

    private func isPEM(_ source: any ByteSource) throws -> Bool {
        switch self {
        case .der, .mime: false
        case .pem: true
        case .auto:
            try !isDER(source) && PEMObject.isThere(in: source, orOthers: true)
        }
    }

    private func isDER(_ source: any ByteSource) throws -> Bool {
        try source.bytes(in: 0..<min(source.count, 1)).first == 0x30
    }
}

extension ArgumentHelp {
    static let inform = ArgumentHelp(
        "The format of the input: auto, mime (a mail), der or pem (a bare CMS object). (default: auto)",
        valueName: "inform"
    )
}

/// Options for verbs with levels of signing and encryption.
struct LevelOptions: ParsableArguments {
    @Option(help: "Signing: never, available (if possible) or require (otherwise the mail is not sent).")
    var sign: Policy.Level?
    @Option(help: "Encryption: never, available (if possible) or require (otherwise the mail is not sent).")
    var encrypt: Policy.Level?

    var request: ProtectionRequest { ProtectionRequest(sign: sign, encrypt: encrypt) }
}
