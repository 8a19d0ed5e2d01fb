import ArgumentParser
import Foundation
import LibCrypto

/// The source of a passphrase that the options name: a file, a descriptor, or an environment variable.
struct PassphraseOrigin: Sendable {
    private let option: String
    private let file: String?
    private let descriptor: Int32?
    private let variable: String?

    /// - Parameter option: the options' name without `-file`, `-fd` and `-env`.
    init(_ option: String, file: String?, descriptor: Int32?, variable: String?) {
        self.option = option
        self.file = file
        self.descriptor = descriptor
        self.variable = variable
    }

    /// The names of the options.
    var optionNames: String { "--\(option)-file, --\(option)-fd or --\(option)-env" }

    /// Whether the options name a source.
    var isGiven: Bool { file != nil || descriptor != nil || variable != nil }

    /// Checks the options while the command line is parsed. A program that this process starts, such as sendmail, does not
    /// inherit the descriptor.
    func validate() throws {
        if let descriptor { CallerDescriptor.claim(descriptor) }
        if [file != nil, descriptor != nil, variable != nil].count(where: \.self) > 1 {
            throw ValidationError("only one of --\(option)-file, --\(option)-fd and --\(option)-env can be given")
        }
    }

    /// The passphrase; nil if the options name no source.
    ///
    /// - Throws: `Failure` with status 66 if the descriptor is not open or the variable does not exist, and with 65 if the
    ///   content is too long; `StreamError` if the file cannot be read.
    func given() throws -> Passphrase? {
        if let file { return try Self.read(file, called: file) }
        if let descriptor {
            let duplicate = CallerDescriptor.isOpen(descriptor) ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1
            guard duplicate >= 0 else { throw Failure(.noInput, "--\(option)-fd \(descriptor): not open") }
            defer { close(duplicate) }
            return try Self.read("/dev/fd/\(duplicate)", called: "--\(option)-fd \(descriptor)")
        }
        guard let variable else { return nil }
        guard let passphrase = EnvironmentPassphrases.passphrase(variable) else {
            throw Failure(.noInput, "--\(option)-env \(variable): no such variable")
        }
        return passphrase
    }

    /// The content of the password file at `path`. A line end at its end is not part of the password.
    ///
    /// - Parameter name: the name of the file in errors.
    static func read(_ path: String, called name: String) throws -> Passphrase {
        let tooLong = Failure(.badData, "\(name): too long for a passphrase")
        return try SecretFile.withBytes(of: path, limit: 64 * 1024, orThrow: tooLong) { bytes in
            var end = bytes.count
            if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
            if end > 0, end < bytes.count, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return Passphrase(bytes.extracting(first: end))
        }
    }
}
