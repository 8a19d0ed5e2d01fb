import Foundation
import TestSupport
import Testing

/// No name in a certificate or mail reaches a terminal unescaped if it contains controls, characters that reorder a line or
/// are invisible, or letters that resemble others.
@Suite struct OutputSafetyTests {
    /// A Cyrillic letter that looks like an a, a right-to-left override, a zero-width space, and ESC.
    private static let hostile: Set<Unicode.Scalar> = ["\u{430}", "\u{202E}", "\u{200B}", "\u{1B}"]
    /// Not Alice's address: the first letter is Cyrillic.
    private static let address = "\u{430}lice@example.com"

    private func makeMail() throws -> CertificateFactory {
        var factory = try CertificateFactory()
        try factory.issue(
            "root",
            subject: "/CN=R\u{202E}oot \u{200B}p\u{430}ypal",
            extensions: CertificateFactory.authority
        )
        try factory.issue(
            "leaf",
            subject: "/CN=E\u{202E}ve \u{200B}p\u{430}ypal",
            by: "root",
            extensions: [
                "subjectAltName=otherName:1.3.6.1.5.5.7.8.9;UTF8:\(Self.address)", "basicConstraints=CA:FALSE",
            ]
        )
        try factory.sh(
            """
            printf 'Content-Type: text/plain; name="\u{202E}\u{1B}[2Ja"\\r\\n\\r\\nhello\\r\\n' >content
            openssl cms -sign -in content -signer leaf.pem -inkey leaf.key -out signed
            { printf 'From: "\u{202E}bob@example.com\u{1B}[2J" <\(Self.address)>\\nTo: \(Self.address)\\nSubject: p\u{430}ypal\\n'
            cat signed; } >mail.eml
            printf 'From: alice@example.com\\nTo: \(Self.address)\\n\\nhello\\n' >plain.eml
            openssl pkcs12 -export -in leaf.pem -inkey leaf.key -certfile root.pem -passout pass:test -out leaf.p12 \
            -name 'f\u{202E}riend\u{1B}[2J'
            echo test >pw
            """
        )
        return factory
    }

    @Test func `no command prints control characters from certificates or mail`() throws {
        let factory = try makeMail()
        var environment = ProcessInfo.processInfo.environment
        environment["SMIME_HOME"] = factory.file("home").path
        let runner = CommandRunner(try Tool.smime().path, environment: environment, folder: factory.folder)
        let commands = [
            "import leaf.p12 --password-file pw", "trust add root.pem", "import leaf.pem root.pem", "trust list",
            "verify mail.eml", "inspect mail.eml", "inspect leaf.pem", "inspect leaf.p12", "harvest mail.eml",
            "import mail.eml", "list", "account list", "account show \(Self.address)", "recipient list",
            "recipient show \(Self.address)", "encrypt plain.eml -o secret.eml", "decrypt secret.eml -o opened.eml",
            "verify mail.eml --assert-signer \(Self.address)", "verify mail.eml --revocation hard",
            "policy explain plain.eml --from \(Self.address)", "sign mail.eml -o twice.eml",
            "recipient show b\(Self.address)", "verify \u{202E}\u{1B}missing.eml", "doctor",
        ]
        var shown = 0
        for command in commands {
            for json in [[], ["--json"]] {
                let result = try runner.run(command.split(separator: " ").map(String.init) + json)
                #expect(result.signal == nil)
                let text = result.text + result.errorText
                let raw = text.unicodeScalars.filter(Self.hostile.contains).map { String($0.value, radix: 16) }
                #expect(raw.isEmpty, "\(command) \(json): \(raw) in \(text.debugDescription)")
                if text.contains("u{430}") || text.contains("\\u0430") { shown += 1 }
            }
        }
        // The outputs did contain the address, so there was something to escape.
        #expect(shown > 20)
    }
}
