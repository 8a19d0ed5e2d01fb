import ArgumentParser
import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX

/// Options for a secret that sender and recipient share, instead of certificates. No other secret is tried on the message.
struct SecretOptions: ParsableArguments, PassphraseOptions {
    @Option(
        help: ArgumentHelp(
            "Use the secret key in this file: 16, 24 or 32 bytes, binary or in hexadecimal (KEKRecipientInfo).",
            valueName: "path"
        ),
        completion: .file()
    )
    var secretKeyFile: String?
    @Option(help: ArgumentHelp("The identifier of the secret key in messages, in hexadecimal.", valueName: "hex"))
    var secretKeyID: String?
    @Flag(
        help: """
            Use a shared password (PasswordRecipientInfo) from the terminal or the options below. Without this \
            flag, the options below give the passphrase of the store.
            """
    )
    var withPassword = false
    @Option(help: .passwordFile, completion: .file()) var passwordFile: String?
    @Option(help: .passwordFd) var passwordFd: Int32?
    @Option(help: .passwordEnv) var passwordEnv: String?

    func validate() throws {
        try origin.validate()
        if secretKeyID != nil, secretKeyFile == nil { throw ValidationError("--secret-key-id needs --secret-key-file") }
        if let secretKeyID, Self.bytes(hexadecimal: secretKeyID.utf8) == nil {
            throw ValidationError("--secret-key-id takes pairs of hexadecimal digits")
        }
        if secretKeyFile != nil, withPassword {
            throw ValidationError("--secret-key-file and --with-password exclude each other")
        }
    }

    /// The files that secrets are read from.
    var files: [String?] { [secretKeyFile, passwordFile] }

    /// The source of the store's passphrase; nil if the options give the password of the message.
    var storePassword: PassphraseOrigin? { withPassword ? nil : origin }

    /// The secret that the options give; nil if there is none.
    ///
    /// - Parameter isNew: whether the secret will protect a new message; the user then types it twice.
    func secret(isNew: Bool) throws -> SharedSecret? {
        if withPassword {
            let passphrase = try passphrase("of the message", isNew: isNew)
            guard !isNew || !passphrase.isEmpty else { throw Failure(.usage, "an empty password protects nothing") }
            return SharedSecret(password: passphrase)
        }
        guard let secretKeyFile else { return nil }
        let identifier = secretKeyID.flatMap { Self.bytes(hexadecimal: $0.utf8) }
        let tooLong = Failure(.badData, "\(secretKeyFile): too long for a secret key")
        return try SecretFile.withBytes(of: secretKeyFile, limit: 1024, orThrow: tooLong) { bytes in
            do {
                // The key itself is not copied out of its memory.
                guard ![16, 24, 32].contains(bytes.count) else {
                    return try SharedSecret(key: bytes, identifier: identifier)
                }
                var text = Array(bytes)
                var decoded = Self.bytes(hexadecimal: text) ?? []
                defer {
                    text.wipe()
                    decoded.wipe()
                }
                guard !decoded.isEmpty else { return try SharedSecret(key: bytes, identifier: identifier) }
                return try SharedSecret(key: decoded.octets, identifier: identifier)
            } catch { throw Failure(error, in: secretKeyFile) }
        }
    }

    /// The bytes for pairs of hexadecimal digits; blanks and line ends are ignored. Nil if there are other characters, or no
    /// digits.
    private static func bytes(hexadecimal text: some Collection<UInt8>) -> [UInt8]? {
        [UInt8](hexadecimal: text, ignoring: " \t\r\n").flatMap { $0.isEmpty ? nil : $0 }
    }
}
