import ByteStreams
import Foundation
import TestSupport
import Testing

/// After a command has ended, no passphrase and no private key is left in its memory or on disk.
@Suite(.serialized) struct MemoryImageTests {
    @Test func `no command leaves a secret in memory or on disk`() throws {
        if let obstacle = try MemoryImage.obstacle() {
            print("note: skipped, no image of a command's memory: \(obstacle)")
            return
        }
        guard !Tool.isSanitized else {
            print("note: skipped, the command was built with a sanitizer, which keeps what was freed")
            return
        }
        let session = try SecretSession()
        for step in SecretSession.steps {
            let image = try session.image(step)
            #expect(image.status == 0, "\(step): \(image.errorText)")
            #expect(image.coreLimit == "0 0", "\(step)")
            // An empty image would contain no secrets either.
            #expect(image.count > 1 << 20, "\(step)")
            let all = image.traces(of: session.secrets)
            let traces = all.filter { !$0.hasSuffix(MemoryImage.stack) }
            #expect(traces.isEmpty, "\(step): \(traces)")
            withKnownIssue("the dynamic linker saves vector registers on the stack", isIntermittent: true) {
                #expect(traces == all, "\(step): \(all)")
            }
            let files = try session.filesWithSecrets()
            #expect(files.isEmpty, "\(step): \(files)")
        }
    }

    @Test func `a memory image contains the words of the process`() throws {
        if try MemoryImage.obstacle() != nil { return }
        let word = "a-word-that-no-program-wrote-\(UUID().uuidString)"
        var secret = Secrets()
        secret.add("word", text: word)
        var other = Secrets()
        other.add("other", text: "another-\(UUID().uuidString)")
        let runner = CommandRunner("sh", environment: ["PATH": "/usr/bin:/bin"])
        let image = try MemoryImage(of: runner, ["-c", "w=\(word); exit 3"])
        #expect(image.status == 3)
        #expect(!image.traces(of: secret).isEmpty)
        #expect(image.traces(of: other).isEmpty)
    }

    @Test(.enabled(if: !Tool.isSanitized, "the leak check of a sanitizer ends where no other process may look in"))
    func `other processes of the same user cannot read the memory`() throws {
        if try MemoryImage.obstacle() != nil { return }
        let mortal = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        // Other users may have no access to some folders above the tests.
        let shell = CommandRunner("setpriv", environment: ["PATH": "/usr/bin:/bin"])
        let program = try Tool.smime().path
        guard try shell.run(mortal.dropFirst() + [program, "--version"]).status == 0 else {
            print("note: skipped, another user may not run \(program)")
            return
        }
        let command = CommandRunner(program, environment: ["PATH": "/usr/bin:/bin"])
        let image = try MemoryImage(of: command, ["explain", "unauthenticated"], under: mortal)
        #expect(image.status == 0, "\(image.errorText)")
        #expect(image.owner == 0)
        #expect(image.coreLimit == "0 0")
        // Shows that the command itself protects its memory, not its caller.
        let other = CommandRunner("true", environment: ["PATH": "/usr/bin:/bin"])
        #expect(try MemoryImage(of: other, [], under: mortal).owner == 65534)
    }
}

/// A store, files and known passphrases, and the commands that use them.
private final class SecretSession {
    /// The words of a command. `@` stands for the folder of the files, `%` for the folder of the certificates, and `|` for a
    /// pipe with the content of a file. `NAME=FILE` at the front sets an environment variable to the content of a file.
    struct Step: CustomStringConvertible {
        let description: String

        init(_ words: String) { description = words }
    }

    static let steps = [
        "import @/alice.p12 @/carol.p12 --password-file @/file",
        "import --trust %/ca/root.pem",
        "import --home $HOME/piped @/alice.p12 --password-fd 0 | @/file",
        "WORD=@/file import --home $HOME/variable @/alice.p12 --password-env WORD",
        "WORD=@/file import --home $HOME/joined @/carol.p12 --password-env=WORD",
        "import --home $HOME/piped-pem - | @/alice.pem",
        "import --home $HOME/piped-ec - | @/carol.pem",
        "import --home $HOME/piped-der %/carol/cert.pem - | @/carol.der",
        "import --home $HOME/legacy @/legacy.p12 --password-file @/file",
        "import --home $HOME/pem @/alice.pem",
        "import --home $HOME/pem-ec @/carol.pem",
        "import --home $HOME/headed-pem @/headed.pem",
        "import --home $HOME/der %/carol/cert.pem @/carol.der",
        "import --home $HOME/pkcs8 @/pkcs8.pem --password-file @/file",
        "import --home $HOME/old-pem @/old.pem --password-file @/file",
        "sign @/mail -o @/signed",
        "sign --from carol@example.com @/mail-ec -o @/signed-ec",
        "encrypt --sign @/mail -o @/encrypted",
        "encrypt --to carol@example.com @/mail -o @/encrypted-ec",
        "decrypt @/encrypted -o @/plain",
        "decrypt @/encrypted-ec -o @/plain-ec",
        "encrypt --with-password --password-file @/message @/mail -o @/by-password",
        "decrypt --with-password --password-file @/message @/by-password -o @/from-password",
        "encrypt --secret-key-file @/key @/mail -o @/by-key",
        "decrypt --secret-key-file @/key @/by-key -o @/from-key",
        "decrypt --secret-key-file @/hex @/by-key -o @/from-hex",
        "decrypt --secret-key-file /dev/stdin @/by-key -o @/from-pipe | @/hex",
        "export alice@example.com --password-file @/file -o @/modern.p12",
        "export alice@example.com --compat legacy --password-file @/file -o @/old.p12",
        "account backup alice@example.com --password-file @/backup -o @/accounts",
        "account restore --home $HOME/restored @/accounts --password-file @/backup",
        "store protect passphrase --password-file @/store",
        "sign @/mail -o @/signed-locked --password-file @/store",
        "decrypt @/encrypted -o @/plain-locked --password-file @/store",
        "export alice@example.com --password-file @/file --store-password-file @/store -o @/locked.p12",
        "WORD=@/store sign @/mail -o @/signed-variable --password-env WORD",
        "STORE=@/store WORD=@/file export alice@example.com --password-env WORD --store-password-env STORE -o @/variable.p12",
        "store rekey --password-file @/store",
        "store protect passphrase --password-file @/store --new-password-file @/newer",
        "store check",
        "filter outgoing --sender alice@example.com --stdout --password-file @/newer -- carol@example.com < @/mail",
        "store protect key-file --password-file @/newer",
    ].map(Step.init)

    private(set) var secrets = Secrets()
    private let home: CommandEnvironment
    private let temporary: TemporaryFolder
    private var files: URL { temporary.url }

    init() throws {
        home = try CommandEnvironment()
        temporary = try TemporaryFolder()
        try addNumbers(of: "alice")
        try addNumbers(of: "carol")
        // The bytes before that also occur in the certificate.
        secrets.add("the PEM of alice's key", number: Array(try PEMFile.text("alice/key.pem").dropFirst(400)))
        secrets.add("the PEM of carol's key", number: Array(try PEMFile.text("carol/key.pem").dropFirst(44).prefix(44)))
        let lines = String(decoding: try Fixtures.cert("carol/key.pem"), as: UTF8.self).split(separator: "\n")
        // After these lines comes the public key, which also occurs in the certificate.
        secrets.add("a line of carol's key", text: String(lines[2].prefix(24)))
        for name in ["file", "store", "newer", "message", "backup"] {
            let word = "\(UUID().uuidString)-\(UUID().uuidString)"
            secrets.add("the word in \(name)", text: word)
            try Data(word.utf8).write(to: files.appending(path: name))
        }
        let key = (0..<32).map { _ in UInt8.random(in: 1...255) }
        let digits = key.hexadecimal
        secrets.add("the secret key", number: key)
        secrets.add("the secret key's digits", text: digits)
        try Data(key).write(to: files.appending(path: "key"))
        try Data(digits.utf8).write(to: files.appending(path: "hex"))
        try Data("From: alice@example.com\r\nTo: alice@example.com\r\n\r\nhello\r\n".utf8)
            .write(to: files.appending(path: "mail"))
        try Data("From: carol@example.com\r\n\r\nhello\r\n".utf8).write(to: files.appending(path: "mail-ec"))
        try makeKeyFiles()
    }

    private func makeKeyFiles() throws {
        let script = """
            set -e
            for name in alice carol; do
                openssl pkcs12 -export -inkey %/$name/key.pem -in %/$name/cert.pem -certfile %/$name/chain.pem \
                    -passout file:file -out $name.p12
            done
            openssl pkcs12 -export -legacy -inkey %/alice/key.pem -in %/alice/cert.pem -passout file:file -out legacy.p12
            cat %/alice/cert.pem %/alice/key.pem >alice.pem
            cat %/carol/cert.pem %/carol/key.pem >carol.pem
            sed 's/^-----BEGIN PRIVATE KEY-----$/&\\nComment: mine\\n/' carol.pem >headed.pem
            openssl pkcs8 -topk8 -nocrypt -in %/carol/key.pem -outform DER -out carol.der
            openssl pkcs8 -topk8 -in %/alice/key.pem -passout file:file -out pkcs8.pem
            openssl rsa -traditional -aes128 -in %/alice/key.pem -passout file:file -out old.pem
            cat %/alice/cert.pem >>pkcs8.pem
            cat %/alice/cert.pem >>old.pem
            """
        let result = try CommandRunner("sh", folder: files)
            .run(["-c", script.replacing("%", with: Fixtures.certs.path)])
        try #require(result.status == 0, "\(result.errorText)")
    }

    func image(_ step: Step) throws -> MemoryImage {
        var words = step.description.replacing("@/", with: files.path + "/").replacing("%", with: Fixtures.certs.path)
            .replacing("$HOME", with: home.folder.path).split(separator: " ").map(String.init)
        var environment = home.environment
        while let pair = words.first?.split(separator: "="), pair.count == 2 {
            environment[String(pair[0])] = try String(contentsOfFile: String(pair[1]), encoding: .utf8)
            words.removeFirst()
        }
        let runner = CommandRunner(home.program, environment: environment, folder: files)
        guard let end = words.firstIndex(where: { ["<", "|"].contains($0) }) else {
            return try MemoryImage(of: runner, words)
        }
        let file = URL(filePath: words[end + 1])
        let input = words[end] == "<" ? CommandRunner.Input.file(file) : .bytes(try Array(Data(contentsOf: file)))
        return try MemoryImage(of: runner, Array(words[..<end]), input: input)
    }

    /// The files below the home (also the folder of temporary files) that contain a secret.
    func filesWithSecrets() throws -> [String] {
        let paths = FileManager.default.subpaths(atPath: home.folder.path) ?? []
        return try paths.flatMap { path in
            let url = home.folder.appending(path: path)
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return [String]() }
            let bytes = try Array(Data(contentsOf: url))
            return secrets.found(in: bytes).map { "\($0.name) in \(path)" }
        }
    }

    /// Adds the secret numbers of a key in `certs/`, an RSAPrivateKey (RFC 8017 appendix A.1.2) or ECPrivateKey (RFC 5915).
    private func addNumbers(of name: String) throws {
        let info = TLV.children(try PEMFile.blocks("\(name)/key.pem")[0])
        let fields = TLV.children(TLV.contents(info[2]))
        guard fields.count >= 9 else { return secrets.add("\(name)'s key", number: TLV.contents(fields[1])) }
        for (field, number) in zip(["d", "p", "q", "dP", "dQ", "qInv"], fields[3...]) {
            secrets.add("\(name)'s \(field)", number: TLV.contents(number))
        }
    }
}
