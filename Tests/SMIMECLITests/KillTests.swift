import Foundation
import TestSupport
import Testing

/// Commands killed at any moment leave the old state or the new one. SMIME_TEST_KILLS says how often; six times if it
/// is not set.
@Suite struct KillTests {
    private static let kills = ProcessInfo.processInfo.environment["SMIME_TEST_KILLS"].flatMap { Int($0) } ?? 6

    private enum Work: String, CaseIterable {
        case harvest, `import`, migration, restore
    }

    @Test func `kill -9 during import, harvest, migration and restore leaves old or new state`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "smime-kill-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let session = try Session(folder)
        var outcomes: [String: Int] = [:]
        var generator = SystemRandomNumberGenerator()
        for round in 0..<Self.kills {
            let work = Work.allCases[round % Work.allCases.count]
            let home = try session.prepare(work.rawValue)
            let whole = session.durations[work.rawValue] ?? 0.1
            // As often in the first tenth of the time, where files are made, as in the rest.
            let moment = Double.random(in: 0...(round % 2 == 0 ? whole * 1.1 : whole * 0.3), using: &generator)
            try session.kill(work.rawValue, home, after: moment)
            let state = try session.state(home)
            let isExpected =
                switch work {
                case .import: [0, 2].contains(state.recipients)
                case .restore: [2, 3].contains(state.recipients)
                // The harvest commits what it has learned in batches, and each is whole.
                case .harvest: (0...2).contains(state.recipients)
                case .migration: session.isOnTheWay(state)
                }
            #expect(isExpected, "\(work) killed after \(moment) s: \(state)")
            // Nothing is in the way of doing it again, to the end.
            try session.finish(work.rawValue, home)
            try FileManager.default.removeItem(atPath: home)
            outcomes["\(work) \(session.name(of: state, after: work == .migration))", default: 0] += 1
        }
        print("kills: \(outcomes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })")
    }
}

/// What a kill left, of a store that is sound or not yet made.
private struct State: Equatable {
    var recipients: Int
    /// The form of the store before anybody else could migrate it.
    var form: Int
    /// How many records were of an older form then.
    var oldRecords: Int
}

/// Homes to be killed in, and what is done in them.
private final class Session {
    private let folder: URL
    private let smime: URL
    private let environment: [String: String]
    /// How long each work takes when it is left alone, in seconds.
    private(set) var durations: [String: Double] = [:]
    /// The store to be migrated, as it was.
    private(set) var oldState = State(recipients: 0, form: 0, oldRecords: 0)
    /// The form that migration leads to.
    private(set) var newForm = 0
    private var number = 0

    init(_ folder: URL) throws {
        self.folder = folder
        smime = try Tool.smime()
        environment = ProcessInfo.processInfo.environment.merging(["SMIME_STORE_TIMEOUT": "300"]) { $1 }
        try Data("test".utf8).write(to: folder.appending(path: "pw"))
        try makeMail()
        try makeOldStore()
        let old = try prepare("migration")
        (oldState.form, newForm, oldState.oldRecords) = try form(old)
        oldState.recipients = try recipients(old)
        try makeCopy()
        for work in ["import", "harvest", "migration", "restore"] {
            let home = try prepare(work)
            let start = ContinuousClock.now
            try finish(work, home)
            let (seconds, attoseconds) = (ContinuousClock.now - start).components
            durations[work] = Double(seconds) + Double(attoseconds) / 1e18
        }
    }

    /// A home as it is before `work`.
    func prepare(_ work: String) throws -> String {
        number += 1
        let home = folder.appending(path: "home-\(number)").path
        switch work {
        case "harvest": try run(["--home", home, "import", "--trust", certs("ca/root.pem")])
        case "migration": try copy("old", to: home)
        case "restore": try prepareRestore(home)
        default: break
        }
        return home
    }

    func kill(_ work: String, _ home: String, after seconds: Double) throws {
        let line = ([smime.path] + arguments(work, home)).map { "'\($0)'" }.joined(separator: " ")
        let script =
            "\(line) >/dev/null 2>&1 & p=$!; sleep \(seconds); kill -9 $p 2>/dev/null; wait $p 2>/dev/null; true"
        try shell(script)
    }

    func finish(_ work: String, _ home: String) throws {
        try run(arguments(work, home))
        let state = try state(home)
        #expect(
            state == State(recipients: 2, form: newForm, oldRecords: 0),
            "\(work) to its end: \(state)"
        )
    }

    /// Whether a migration goes through `state`: one form after the other, then the records, a whole batch at a time.
    func isOnTheWay(_ state: State) -> Bool {
        let done = oldState.oldRecords - state.oldRecords
        return state.recipients == oldState.recipients && (oldState.form...newForm).contains(state.form)
            && (state.oldRecords == 0 || done == 0 || state.form == newForm && done > 0 && done.isMultiple(of: 250))
    }

    func name(of state: State, after migration: Bool) -> String {
        guard migration else { return "\(state.recipients) recipients" }
        if state.form < newForm { return state == oldState ? "old" : "between forms" }
        return state.oldRecords == 0 ? "new" : "new, between batches"
    }

    /// What is in a store that is sound, or not yet made.
    func state(_ home: String) throws -> State {
        guard FileManager.default.fileExists(atPath: home + "/data/smime.sqlite") else {
            return State(recipients: 0, form: newForm, oldRecords: 0)
        }
        // Before anything opens the store and so migrates it.
        let (form, _, old) = try form(home)
        // Status 1 says that the key file or database of an interrupted creation is to be tidied, which is allowed.
        let check = try command(["--home", home, "store", "check"])
        #expect([0, 1].contains(check.status), "\(check.text)\(check.errorText)")
        #expect(!check.text.contains("orphan"), "\(check.text)")
        return State(recipients: try recipients(home), form: form, oldRecords: old)
    }

    private func recipients(_ home: String) throws -> Int {
        let list = try run(["--home", home, "recipient", "list", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(list.standardOutput)) as? [String: Any]
        return (object?["recipients"] as? [Any])?.count ?? -1
    }

    /// The form of a store, the newest there is, and how many records are of an older one.
    private func form(_ home: String) throws -> (found: Int, newest: Int, oldRecords: Int) {
        let text = try run(["--home", home, "store", "migrate", "--dry-run", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(text.standardOutput)) as? [String: Any]
        let records = (object?["records"] as? [String: Int])?.values.reduce(0, +) ?? 0
        return (object?["found"] as? Int ?? -1, object?["known"] as? Int ?? -1, records)
    }

    private func arguments(_ work: String, _ home: String) -> [String] {
        let pw = folder.appending(path: "pw").path
        return switch work {
        case "harvest": ["--home", home, "harvest", folder.appending(path: "mbox").path]
        case "migration": ["--home", home, "store", "migrate"]
        case "restore": ["--home", home, "store", "restore", folder.appending(path: "copy").path]
        default:
            [
                "--home", home, "import", certs("alice/alice.p12"), certs("bob/bob.p12"), "--password-file", pw,
            ]
        }
    }

    /// Signed mail of two people, of each more than goes into one batch.
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

    /// A store of form 2 with some thousand certificates, whose records take several batches.
    private func makeOldStore() throws {
        let old = folder.appending(path: "old").path
        try FileManager.default.copyItem(atPath: Fixtures.root.appending(path: "Tests/Stores/form-2").path, toPath: old)
        let sql = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO certificate (fingerprint, der, subject_key, issuer, serial, not_before, not_after, usage)
                SELECT randomblob(32), der, subject_key, issuer, serial, not_before, not_after, usage
                FROM n, (SELECT * FROM certificate LIMIT 1);
            INSERT INTO intermediate (certificate) SELECT id FROM certificate WHERE id > 5;
            """
        try shell("sqlite3 '\(old)/data/smime.sqlite' \"\(sql)\"")
    }

    /// A copy of a store with two people in it and some thousand certificates.
    private func makeCopy() throws {
        try copy("old", to: folder.appending(path: "new").path)
        let home = folder.appending(path: "new").path
        try run(["--home", home, "store", "migrate"])
        try run(["--home", home, "store", "backup", "-o", folder.appending(path: "copy").path])
    }

    /// The store of the copy with one more person in it.
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
