import Foundation

/// What opens the private keys of a store.
package enum Protection: String, CaseIterable, Sendable {
    /// The key file or the passphrase; either of them suffices.
    case both
    /// The key file, which is stored separately from the data.
    case keyFile = "key-file"
    /// A passphrase, which is stored nowhere.
    case passphrase

    var usesKeyFile: Bool { self != .passphrase }
    var usesPassphrase: Bool { self != .keyFile }
}

/// The store key, sealed by each of its protectors. Each protector alone can open it.
struct Protectors: Equatable, Sendable {
    /// The maximum number of attempts. An attempt fails if another process replaces the store key between a read and a write.
    static let changesSeen = 5

    private static let keyFileKind = "key-file"
    private static let passphraseKind = "passphrase"

    /// The store key, sealed with the key in the key file; nil without a key file.
    var keyFile: [UInt8]?
    /// The store key, sealed with a key derived from a passphrase, and the parameters of the derivation; nil without a
    /// passphrase.
    var passphrase: [UInt8]?

    init(keyFile: [UInt8]? = nil, passphrase: [UInt8]? = nil) {
        self.keyFile = keyFile
        self.passphrase = passphrase
    }

    init(in database: SQLDatabase) throws {
        let rows = try database.cached(.protectors) { try database.rows("SELECT kind, sealed FROM protector") }
        func sealed(_ kind: String) throws -> [UInt8]? {
            try rows.first { try $0.value("kind") == kind }.map { try $0.value("sealed") as [UInt8] }
        }
        self.init(keyFile: try sealed(Self.keyFileKind), passphrase: try sealed(Self.passphraseKind))
    }

    /// Stores these protectors, replacing the earlier ones.
    func save(in database: SQLDatabase) throws {
        for (kind, sealed) in [(Self.keyFileKind, keyFile), (Self.passphraseKind, passphrase)] {
            try database.execute("DELETE FROM protector WHERE kind = ?", [kind])
            guard let sealed else { continue }
            try database.execute("INSERT INTO protector (kind, sealed) VALUES (?, ?)", [kind, sealed])
        }
    }

    /// The kind of protection; nil if there is no protector, which means that the store is damaged.
    var protection: Protection? {
        switch (keyFile, passphrase) {
        case (.some, .some): .both
        case (.some, nil): .keyFile
        case (nil, .some): .passphrase
        case (nil, nil): nil
        }
    }
}
