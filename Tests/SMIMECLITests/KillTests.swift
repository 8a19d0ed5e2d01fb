import ByteStreams
import Foundation
import PKIX
import TestSupport
import Testing

/// After a command is killed at any moment, the store is in the old or the new state. SMIME_TEST_KILLS sets the number of
/// kills; the default is six.
@Suite struct KillTests {
    private static let kills = ProcessInfo.processInfo.environment["SMIME_TEST_KILLS"].flatMap { Int($0) } ?? 6

    private enum Work: String, CaseIterable {
        case harvest, `import`, restore
    }

    @Test func `kill -9 during import, harvest and restore leaves the old or the new state`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let session = try Session(folder)
        var outcomes: [String: Int] = [:]
        var generator = SystemRandomNumberGenerator()
        for round in 0..<Self.kills {
            let work = Work.allCases[round % Work.allCases.count]
            let home = try session.prepare(work.rawValue)
            let whole = session.durations[work.rawValue] ?? 0.1
            // Half of the kills are in the first part of the time, in which files are created.
            let moment = Double.random(in: 0...(round % 2 == 0 ? whole * 1.1 : whole * 0.3), using: &generator)
            try session.kill(work.rawValue, home: home, after: moment)
            let recipients = try session.recipientsOfSoundStore(home)
            let isExpected =
                switch work {
                case .import: [0, 2].contains(recipients)
                case .restore: [2, 3].contains(recipients)
                // The harvest commits in batches; each batch is all or nothing.
                case .harvest: (0...2).contains(recipients)
                }
            #expect(isExpected, "\(work) killed after \(moment) s: \(recipients) recipients")
            // The work can be repeated to its end.
            try session.finish(work.rawValue, home: home)
            try FileManager.default.removeItem(atPath: home)
            outcomes["\(work) \(recipients) recipients", default: 0] += 1
        }
        print("kills: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })")
    }
}

/// Makes homes, and runs commands in them that are killed.
private final class Session {
    private let folder: URL
    private let smime: URL
    private let environment: [String: String]
    /// The duration of each kind of work without a kill, in seconds.
    private(set) var durations: [String: Double] = [:]
    private var number = 0

    init(_ folder: URL) throws {
        self.folder = folder
        smime = try Tool.smime()
        environment = ProcessInfo.processInfo.environment.merging(["SMIME_STORE_TIMEOUT": "300"]) { $1 }
        try Data("test".utf8).write(to: folder.appending(path: "pw"))
        try makeMail()
        try makeCopy()
        for work in ["import", "harvest", "restore"] {
            let home = try prepare(work)
            let start = ContinuousClock.now
            try finish(work, home: home)
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            durations[work] = Double(seconds) + Double(attoseconds) / 1e18
        }
    }

    /// A home in the state before `work`.
    func prepare(_ work: String) throws -> String {
        number += 1
        let home = folder.appending(path: "home-\(number)").path
        switch work {
        case "harvest": try run(["--home", home, "import", "--trust", certs("ca/root.pem")])
        case "restore": try prepareRestore(home)
        default: break
        }
        return home
    }

    func kill(_ work: String, home: String, after seconds: Double) throws {
        let line = ([smime.path] + arguments(work, home: home)).map { "'\($0)'" }.joined(separator: " ")
        let script =
            "\(line) >/dev/null 2>&1 & p=$!; sleep \(seconds); kill -9 $p 2>/dev/null; wait $p 2>/dev/null; true"
        try shell(script)
    }

    func finish(_ work: String, home: String) throws {
        try run(arguments(work, home: home))
        let recipients = try recipientsOfSoundStore(home)
        #expect(recipients == 2, "\(work) to its end: \(recipients) recipients")
    }

    /// The number of recipients in an intact store; 0 if the store does not exist yet.
    func recipientsOfSoundStore(_ home: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: home + "/data/smime.sqlite") else { return 0 }
        // Status 1 is allowed: it means that files of an interrupted creation can be tidied up.
        let check = try command(["--home", home, "store", "check"])
        #expect([0, 1].contains(check.status), "\(check.text)\(check.errorText)")
        #expect(!check.text.contains("orphan"), "\(check.text)")
        return try recipients(home)
    }

    private func recipients(_ home: String) throws -> Int {
        let list = try run(["--home", home, "recipient", "list", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(list.standardOutput)) as? [String: Any]
        return (object?["recipients"] as? [Any])?.count ?? -1
    }

    private func arguments(_ work: String, home: String) -> [String] {
        let pw = folder.appending(path: "pw").path
        return switch work {
        case "harvest": ["--home", home, "harvest", folder.appending(path: "mbox").path]
        case "restore": ["--home", home, "store", "restore", folder.appending(path: "copy").path]
        default:
            [
                "--home", home, "import", certs("alice/alice.p12"), certs("bob/bob.p12"), "--password-file", pw,
            ]
        }
    }

    /// Signed mail from two people; each has more mails than one batch.
    private func makeMail() throws {
        let home = folder.appending(path: "signers").path
        let pw = folder.appending(path: "pw").path
        try run(["--home", home, "import", certs("alice/alice.p12"), certs("bob/bob.p12"), "--password-file", pw])
        var mbox = ""
        for name in ["alice", "bob"] {
            let mail = folder.appending(path: "\(name).eml")
            try Data("From: \(name)@example.com\nTo: x@example.com\n\nHello\n".utf8).write(to: mail)
            let signed = try run(["--home", home, "sign", mail.path]).text
            for _ in 0..<300 { mbox += "From x Sat Jan  3 01:05:34 2026\n\(signed)\n" }
        }
        try Data(mbox.utf8).write(to: folder.appending(path: "mbox"))
    }

    /// A backup of a store with two people and some thousand certificates.
    private func makeCopy() throws {
        let home = folder.appending(path: "new").path
        try run(["--home", home, "import", certs("alice/cert.pem"), certs("bob/cert.pem")])
        let columns = """
            subject_key, issuer, serial, not_before, not_after, usage, public_key, subject_name, issuer_name, addresses,
                issuer_key, issuer_hash, name_digest
            """
        var sql = "BEGIN;\n"
        var der = try Certificate(fixture: "bob/cert.pem").der
        for number in 0..<3000 {
            (der[der.count - 1], der[der.count - 2]) = (UInt8(number % 256), UInt8(number / 256))
            let fingerprint = try Certificate(der: der).fingerprint.bytes.hexadecimal
            sql +=
                "INSERT INTO certificate (fingerprint, der, \(columns)) SELECT x'\(fingerprint)', x'\(der.hexadecimal)', "
            sql += "\(columns) FROM certificate LIMIT 1;\n"
        }
        sql += """
            INSERT INTO intermediate (certificate) SELECT id FROM certificate WHERE id NOT IN (SELECT certificate FROM recipient);
            COMMIT;

            """
        let script = folder.appending(path: "certificates.sql")
        try Data(sql.utf8).write(to: script)
        try shell("sqlite3 '\(home)/data/smime.sqlite' <'\(script.path)'")
        try run(["--home", home, "store", "backup", "-o", folder.appending(path: "copy").path])
    }

    /// The store of the backup with one more person.
    private func prepareRestore(_ home: String) throws {
        try copy("new", to: home)
        try run(["--home", home, "import", "--trust", certs("carol/cert.pem")])
    }

    private func copy(_ name: String, to home: String) throws {
        try shell("cp -r '\(folder.appending(path: name).path)' '\(home)' && chmod -R go= '\(home)'")
    }

    private func certs(_ name: String) -> String { Fixtures.certs.appending(path: name).path }

    @discardableResult
    private func run(_ arguments: [String]) throws -> CommandResult {
        let result = try command(arguments)
        #expect(result.status == 0, "\(arguments.joined(separator: " ")): \(result.status) \(result.errorText)")
        return result
    }

    private func command(_ arguments: [String]) throws -> CommandResult {
        var runner = CommandRunner(smime.path, environment: environment, folder: folder)
        runner.timeLimit = .seconds(600)
        return try runner.run(arguments)
    }

    private func shell(_ script: String) throws {
        let result = try CommandRunner("sh", environment: environment, folder: folder).run(["-c", script])
        #expect(result.status == 0, "\(script): \(result.errorText)")
    }
}
