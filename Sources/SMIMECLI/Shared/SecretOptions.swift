import ArgumentParser
import CMS
import Foundation
import Streams

/// Secrets that both sides have, in place of certificates. Only what is given here is ever tried on a message.
struct SecretOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the secret key in this file: 16, 24 or 32 bytes, or as many in hexadecimal (KEKRecipientInfo).",
            valueName: "path"
        ),
        completion: .file()
    )
    var secretKeyFile: String?
    @Option(help: ArgumentHelp("The name that messages give to the secret key, in hexadecimal.", valueName: "hex"))
    var secretKeyID: String?
    @Flag(
        help: """
            Use a password that both sides know (PasswordRecipientInfo): typed, or as below. Without this flag what is \
            below is the passphrase of the store.
            """
    )
    var withPassword = false
    @OptionGroup var password: PasswordOptions

    func validate() throws {
        if secretKeyID != nil, secretKeyFile == nil { throw ValidationError("--secret-key-id needs --secret-key-file") }
        if let secretKeyID, Self.bytes(hexadecimal: secretKeyID) == nil {
            throw ValidationError("--secret-key-id takes pairs of hexadecimal digits")
        }
        if secretKeyFile != nil, withPassword {
            throw ValidationError("--secret-key-file and --with-password exclude each other")
        }
    }

    /// Where the passphrase of the store comes from; nil if the password given is that of the message.
    var storePassword: PassphraseOrigin? { withPassword ? nil : password.origin }

    /// The secret that was given; nil if there is none.
    ///
    /// - Parameter isNew: whether it protects something that is being made.
    func secret(isNew: Bool) throws -> SharedSecret? {
        if withPassword {
            let passphrase = try password.passphrase("of the message", isNew: isNew)
            guard !isNew || !passphrase.isEmpty else { throw Failure(.usage, "an empty password protects nothing") }
            return SharedSecret(password: passphrase)
        }
        guard let secretKeyFile else { return nil }
        let source = try Input.open(path: secretKeyFile)
        guard source.count <= 1024 else { throw Failure(.badData, "\(secretKeyFile): too long for a secret key") }
        var bytes = try source.bytes(in: 0..<source.count)
        defer { bytes.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
        if ![16, 24, 32].contains(bytes.count),
            let key = Self.bytes(hexadecimal: String(decoding: bytes, as: UTF8.self))
        {
            bytes = key
        }
        do {
            return try SharedSecret(key: bytes, identifier: secretKeyID.flatMap { Self.bytes(hexadecimal: $0) })
        } catch { throw Failure(error, in: secretKeyFile) }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
        guard digits.count == text.count(where: { !$0.isWhitespace }), !digits.isEmpty, digits.count.isMultiple(of: 2)
        else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
