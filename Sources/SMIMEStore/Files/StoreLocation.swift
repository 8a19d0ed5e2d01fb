import Foundation

/// The paths of a store. They are derived from the environment each time and never stored, so that a home can be moved.
package struct StoreLocation: Equatable, Sendable {
    /// The directory that holds the whole store; nil for a store spread over the XDG directories.
    package let home: String?
    /// The directory of the database.
    package let dataFolder: String
    /// The directory of the key file, separate from the data, so that a copy of one is worthless without the other.
    package let keyFolder: String

    /// The server that has the database; nil for a file. The directories then hold the key file and the locks of this host.
    package private(set) var server: PostgreSQLAddress?

    /// The SQLite database, or the name of the one on a server.
    package var database: String { server?.name ?? databaseFile }
    private var databaseFile: String { dataFolder + "/smime.sqlite" }
    /// The database while it is being made.
    var databaseSuccessor: String { database + ".new" }
    /// The key file that seals the store key.
    package var keyFile: String {
        switch keySource {
        case .credential(let path), .file(let path), .program(let path): path
        case .home: keyFolder + "/store.key"
        }
    }
    /// Where the key comes from that seals the store key.
    package private(set) var keySource = StoreKeySource.home
    /// The settings of this host where the database is on a server.
    package private(set) var hostSettings = HostSettings()
    /// The agent that may have the store's key, asked in place of a passphrase; nil if none is asked.
    package private(set) var keyAgent: KeyAgentClient?
    /// The new key file until the database is sealed with it.
    var keyFileSuccessor: String { keyFile + ".next" }
    /// Locked while the store or its key is made, or the store is migrated.
    package var lockFile: String { (home ?? dataFolder) + "/lock" }
    /// The lock file for messages that are being sent; each message locks a byte of its own.
    package var deliveryLockFile: String { (home ?? dataFolder) + "/delivery.lock" }
    /// All possible files of the store, existing or not.
    package var files: [String] {
        (server == nil ? ["", "-wal", "-shm"].map { databaseFile + $0 } : [])
            + (keySource.isOurs ? [keyFile, keyFileSuccessor] : []) + [lockFile, deliveryLockFile]
    }
    /// The name of the store in error messages.
    package var path: String { server?.name ?? home ?? dataFolder }

    /// The store in `home`: HOME/data and HOME/key.
    package init(home: String) {
        let home = Self.absolute(home)
        self.init(home: home, dataFolder: home + "/data", keyFolder: home + "/key")
    }

    /// The same directories for a store whose database is on `server`.
    package func on(_ server: PostgreSQLAddress) -> StoreLocation {
        var location = self
        location.server = server
        return location
    }

    /// The same place with a key from `source`.
    package func opened(by source: StoreKeySource) -> StoreLocation {
        var location = self
        location.keySource = source
        if case .file(let path) = source { location.keySource = .file(Self.absolute(path)) }
        return location
    }

    /// The same place, with the settings of this host.
    package func with(_ settings: HostSettings) -> StoreLocation {
        var location = self
        location.hostSettings = settings
        return location
    }

    /// The same place, with an agent that may have its key.
    package func opened(by agent: KeyAgentClient) -> StoreLocation {
        var location = self
        location.keyAgent = agent
        return location
    }

    /// The environment variables that name a user's store.
    package static let variables = ["SMIME_HOME", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]

    /// The store a user means: `home` if given, else `SMIME_HOME`, else the XDG data and configuration directories.
    ///
    /// Source: XDG Base Directory Specification 0.8; relative paths in its variables are ignored, as it says.
    package init(home: String?, environment: [String: String]) {
        if let home = [home, environment["SMIME_HOME"]].lazy.compactMap(\.self).first(where: { !$0.isEmpty }) {
            self.init(home: home)
            return
        }
        let user = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        func folder(_ variable: String, fallback: String) -> String {
            guard let value = environment[variable], value.hasPrefix("/") else { return "\(user)/\(fallback)/smime" }
            return Self.absolute(value) + "/smime"
        }
        self.init(
            home: nil,
            dataFolder: folder("XDG_DATA_HOME", fallback: ".local/share"),
            keyFolder: folder("XDG_CONFIG_HOME", fallback: ".config")
        )
    }

    private init(home: String?, dataFolder: String, keyFolder: String) {
        self.home = home
        self.dataFolder = dataFolder
        self.keyFolder = keyFolder
    }

    /// `path` from the root, without trailing slashes, so that a symlink at its end is seen as one.
    private static func absolute(_ path: String) -> String {
        var path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        while path.count > 1, path.hasSuffix("/") || path.hasSuffix("/.") { path.removeLast() }
        return path
    }
}
