import ArgumentParser
import CMS
import Foundation
import Streams

/// Where a passphrase comes from. Never from the value of an argument, which every process can see.
struct PasswordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passphrase from this file.", valueName: "path"), completion: .file())
    var passwordFile: String?
    @Option(help: ArgumentHelp("Read the passphrase from this file descriptor.", valueName: "n"))
    var passwordFd: Int32?
    @Option(help: ArgumentHelp("Take the passphrase from this environment variable.", valueName: "name"))
    var passwordEnv: String?

    func validate() throws {
        if [passwordFile != nil, passwordFd != nil, passwordEnv != nil].count(where: \.self) > 1 {
            throw ValidationError("only one of --password-file, --password-fd and --password-env can be given")
        }
    }

    /// Whether the passphrase was given and need not be asked for.
    var isGiven: Bool { passwordFile != nil || passwordFd != nil || passwordEnv != nil }

    /// The passphrase given, or typed at the terminal.
    ///
    /// - Parameter purpose: completes "passphrase …", as in "for alice.p12".
    /// - Parameter isNew: whether it is typed twice, as it protects something that is being made.
    /// - Throws: `Failure` with status 77 if it is not given and there is no terminal.
    func passphrase(_ purpose: String, isNew: Bool = false) throws -> Passphrase {
        if let passwordFile { return try Self.read(from: try Input.open(path: passwordFile), passwordFile) }
        if let passwordFd {
            let descriptor = dup(passwordFd)
            guard descriptor >= 0 else { throw Failure(.noInput, "--password-fd \(passwordFd): not open") }
            defer { close(descriptor) }
            return try Self.read(from: try Input.open(path: "/dev/fd/\(descriptor)"), "--password-fd \(passwordFd)")
        }
        if let passwordEnv {
            guard let value = getenv(passwordEnv) else {
                throw Failure(.noInput, "--password-env \(passwordEnv): no such variable")
            }
            return Passphrase(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        }
        return try Terminal.passphrase(purpose, isNew: isNew)
    }

    /// The content of a password file; one line end at its end does not belong to the password.
    private static func read(from source: any ByteSource, _ name: String) throws -> Passphrase {
        guard source.count <= 64 * 1024 else { throw Failure(.badData, "\(name): too long for a passphrase") }
        var bytes = try source.bytes(in: 0..<source.count)
        defer { bytes.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 0) } }
        var end = bytes.count
        if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, end < bytes.count, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return Passphrase(bytes[..<end])
    }
}
