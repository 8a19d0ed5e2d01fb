import Foundation
import Synchronization
import TestSupport
import Testing

/// An author whose certificate names services on loopback, and a recipient who reads the author's mail.
struct OnlineScene: ~Copyable {
    private let factory: CertificateFactory
    private let environment: [String: String]

    /// Makes a signed mail from the author in `signed.eml`, and a plain mail to the author in `plain.eml`.
    ///
    /// - Parameters:
    ///   - services: lines of the extensions of the author's certificate.
    ///   - allowsPrivate: whether the reader's store allows services on loopback.
    init(_ services: [String], allowsPrivate: Bool = true) throws {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        try factory.issue(
            "leaf",
            subject: "/CN=leaf",
            by: "ca",
            extensions: CertificateFactory.person("a@example.com") + services
        )
        try factory.issue(
            "other",
            subject: "/CN=other",
            by: "ca",
            extensions: CertificateFactory.person("b@example.com")
        )
        try factory.sh(
            """
            for name in leaf other; do openssl pkcs12 -export -in $name.pem -inkey $name.key -passout pass:test -out $name.p12; done
            printf test >pw
            printf 'From: a@example.com\\nTo: b@example.com\\nContent-Type: text/plain\\n\\nhello\\n' >mail.eml
            printf 'From: b@example.com\\nTo: a@example.com\\nContent-Type: text/plain\\n\\nhello\\n' >plain.eml
            """
        )
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=no"
        let commands = [
            ("author", "import --trust ca.pem"), ("author", "import leaf.p12 --password-file pw"),
            ("author", "sign mail.eml -o signed.eml"), ("reader", "import --trust ca.pem"),
            ("reader", "import other.p12 leaf.pem --password-file pw"),
            ("reader", "config set revocation.private-addresses \(allowsPrivate ? "on" : "off")"),
        ]
        for (home, command) in commands {
            let result = try Self.run(in: home, command, below: factory.folder, environment)
            try #require(result.status == 0, "\(command): \(result.errorText)")
        }
        self.environment = environment
        self.factory = factory
    }

    /// Runs the command with the given words, separated by blanks, in the store `home`.
    private static func run(
        in home: String,
        _ command: String,
        below folder: URL,
        _ environment: [String: String],
        input: String? = nil
    ) throws -> CommandResult {
        let store = ["SMIME_HOME": folder.appending(path: "\(home).home").path]
        var runner = CommandRunner(
            try Tool.smime().path,
            environment: environment.merging(store) { $1 },
            folder: folder
        )
        runner.timeLimit = .seconds(120)
        return try runner.run(
            command.split(separator: " ").map(String.init),
            input: input.map { .file(folder.appending(path: $0)) } ?? .nothing
        )
    }

    private func run(in home: String, _ command: String, input: String? = nil) throws -> CommandResult {
        try Self.run(in: home, command, below: factory.folder, environment, input: input)
    }

    /// Runs the command as the reader. It must neither crash nor hang.
    func read(_ command: String, input: String? = nil) throws -> CommandResult {
        let result = try run(in: "reader", command, input: input)
        #expect(result.signal == nil)
        #expect(!result.isTimeout)
        return result
    }

    /// The codes of the problems in the revocation part of a JSON report.
    func problems(_ result: CommandResult) -> [String] {
        result.text.matches(of: /"code":"((?:certificate-revoked|revocation|crl|ocsp)[a-z-]*)"/).map {
            String($0.output.1)
        }
    }

    /// The fingerprint of the author's authority.
    func authority() throws -> String {
        let result = try run(in: "reader", "trust list --json")
        return try #require(result.text.firstMatch(of: /sha256:[0-9a-f]{64}/)).output.description
    }

    /// A list by the author's authority that revokes the certificates with these names.
    func list(revoking names: [String]) throws -> [UInt8] {
        try factory.revoke(names, by: "ca", to: "ca")
        return try factory.bytes("ca.crl")
    }

    /// An OCSP response about the certificate of `name` with the status V (valid) or R (revoked).
    func response(_ status: String, about name: String, by signer: String = "ca") throws -> [UInt8] {
        try factory.sh(
            """
            printf '\(status)\\t491231235959Z\\t\(status == "R" ? "250101000000Z" : "")\\t%s\\tunknown\\t/CN=x\\n' \
            "$(openssl x509 -in \(name).pem -noout -serial | cut -d= -f2)" >index
            openssl ocsp -issuer ca.pem -cert \(name).pem -no_nonce -reqout req >/dev/null 2>&1
            openssl ocsp -index index -CA ca.pem -rsigner \(signer).pem -rkey \(signer).key -reqin req -respout resp -ndays 7 \
            >/dev/null 2>&1
            """
        )
        return try factory.bytes("resp")
    }
}

/// The content of a server. It is set after the start, because the served certificates contain the port.
final class Served: Sendable {
    private let reply = Mutex(LoopbackServer.Reply.silence)

    var value: LoopbackServer.Reply { reply.withLock { $0 } }

    func put(_ value: LoopbackServer.Reply) { reply.withLock { $0 = value } }

    func put(list: [UInt8]) { put(.ok(list)) }

    func put(response: [UInt8]) { put(.ok(response, type: "application/ocsp-response")) }
}
