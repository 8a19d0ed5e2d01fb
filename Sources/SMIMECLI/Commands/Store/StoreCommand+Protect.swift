import ArgumentParser
import Foundation
import LibCrypto
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.StoreCommand {
    struct Protect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "protect",
            abstract: "Choose whether a key file, a passphrase, or either of them unlocks the private keys.",
            discussion: """
                A key file works without a person at the terminal. A passphrase is needed whenever a private key is \
                used. It is read from the terminal, from --password-file, --password-fd or --password-env, or from the \
                systemd credential smime-passphrase. With both, the key file or the passphrase is enough: the key file \
                for daily use, the passphrase in case the key file is lost.

                --password-… gives the current passphrase, and --new-password-… the new passphrase. If the store has \
                no passphrase yet, --password-… gives the new passphrase.

                  smime store protect passphrase
                  smime store protect both
                  smime store protect key-file --password-file FILE
                """
        )

        @Argument(help: "key-file, passphrase, or both.")
        var protection: Protection
        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var newPasswords: NewPasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.existingStore(.readWrite, password: passwords.origin)
            let before = try await store.protection()
            let kept = try await store.nameForAgent()
            try await store.protect(with: protection, passphrase: try await newPassphrase(for: store, before))
            KeyAgentUse.forget(kept)
            try await store.close()
            try report.print(["before": before.rawValue, "after": protection.rawValue]) {
                "protected by \(protection.words), before by \(before.words)"
            }
            guard before == .keyFile, protection == .passphrase else { return }
            Console.note("older copies of the store cannot be opened any more, unless you have a copy of the key file")
            Console.hint("make a new copy: \(store.copying)")
        }

        /// The new passphrase; nil if the present passphrase is kept, or if the store is to have none.
        private func newPassphrase(for store: Store, _ before: Protection) async throws -> Passphrase? {
            guard protection != .keyFile else {
                guard !newPasswords.origin.isGiven else { throw Failure(.usage, "a key file has no passphrase") }
                return nil
            }
            if let new = try newPasswords.origin.given() { return try Self.checked(new) }
            if before == .keyFile, let new = try passwords.origin.given() { return try Self.checked(new) }
            // Adding or removing the key file does not change the passphrase.
            if before != .keyFile, before != protection { return nil }
            // The present passphrase is asked first, as passwd(1) does.
            if before != .keyFile, case .key(let error) = await store.obstacle() { throw error }
            return try Self.checked(
                try Terminal.passphrase("for the store", isNew: true, otherwise: newPasswords.origin.optionNames)
            )
        }

        private static func checked(_ passphrase: consuming Passphrase) throws -> Passphrase {
            guard !passphrase.isEmpty else { throw Failure(.usage, "an empty passphrase protects nothing") }
            return passphrase
        }
    }

    struct Rekey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rekey",
            abstract: "Seal all private keys with a new store key.",
            discussion: """
                Use this if another person may have the key file. A passphrase of the store stays the same. The old \
                key file is renamed. Keep it as long as you have older copies of the store: only it opens them, unless \
                they also have a passphrase.

                  smime store rekey
                  smime store rekey --password-file FILE
                """
        )

        @OptionGroup var passwords: PasswordOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let store = try await global.existingStore(.readWrite)
            let needsPassphrase = try await store.protection() != .keyFile
            let kept = try await store.nameForAgent()
            let result = try await store.rekey(
                passphrase: needsPassphrase ? try StorePassphrase(origin: passwords.origin).passphrase() : nil,
                at: .now
            )
            KeyAgentUse.forget(kept)
            try await store.close()
            try report.print(RekeyReport(keys: result.keys, oldKeyFile: result.oldKeyFile)) {
                "\(counted(result.keys, "private key")) sealed anew"
            }
            guard let old = result.oldKeyFile else { return }
            Console.note("the old key file is now \(old); keep it for older copies of the store")
            Console.hint("make new copies of both: \(store.copying)")
        }

        private struct RekeyReport: Encodable {
            let keys: Int
            let oldKeyFile: String?
        }
    }
}

extension Store {
    /// The command that makes a copy of the store's database.
    fileprivate var copying: String {
        location.server == nil ? "smime store backup -o FILE" : "pg_dump for the database"
    }
}

extension Protection {
    /// The protection in words.
    fileprivate var words: String {
        switch self {
        case .both: "a key file or a passphrase"
        case .keyFile: "a key file"
        case .passphrase: "a passphrase"
        }
    }
}
