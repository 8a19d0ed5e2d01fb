import Foundation

/// The paths of a store. They are derived from the environment at each start and never stored, so that a home can be moved.
package struct StoreLocation: Equatable, Sendable {
    /// The directory that contains the whole store; nil if the store is in the XDG directories.
    package let home: String?
    /// The directory of the database.
    package let dataFolder: String
    /// The directory of the key file. It is separate from the data, so that a copy of only one of the two directories
    /// does not reveal the private keys.
    package let keyFolder: String

    /// The server that has the database; nil if the database is a file. With a server, the directories contain the key file
    /// and this host's locks.
    package private(set) var server: PostgreSQLAddress?

    /// The path of the SQLite database, or the name of the database on a server.
    package var database: String { server?.name ?? databaseFile }
    private var databaseFile: String { dataFolder + "/smime.sqlite" }
    /// The path of a new database, until it is complete and replaces or becomes the store's database.
    var databaseSuccessor: String { database + ".new" }
    /// The path of the file with the key that seals the store key, or of the program that prints this key.
    package var keyFile: String {
        switch keySource {
        case .credential(let path), .file(let path), .program(let path): path
        case .home: keyFolder + "/store.key"
        }
    }
    /// The source of the key that seals the store key.
    package private(set) var keySource = StoreKeySource.home
    /// The settings of this host, used if the database is on a server.
    package private(set) var hostSettings = HostSettings()
    /// The agent that may have the store key in memory, queried before a passphrase is needed; nil if no agent is queried.
    package private(set) var keyAgent: KeyAgentClient?
    /// The path of the new key file, until the database has the store key sealed with the new key.
    var keyFileSuccessor: String { keyFile + ".next" }
    /// The lock file for creating, migrating and replacing the store, and for changing its key and protectors; see
    /// `StoreLock`.
    package var lockFile: String { (home ?? dataFolder) + "/lock" }
    /// The lock file for deliveries. Each message locks its own byte.
    package var deliveryLockFile: String { (home ?? dataFolder) + "/delivery.lock" }
    /// The paths of the store's possible files, existing or not. Of the temporary files, only the new key file is
    /// included.
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

    /// This location with the database on `server`.
    package func on(_ server: PostgreSQLAddress) -> StoreLocation {
        var location = self
        location.server = server
        return location
    }

    /// This location with a key from `source`.
    package func opened(by source: StoreKeySource) -> StoreLocation {
        var location = self
        location.keySource = source
        if case .file(let path) = source { location.keySource = .file(Self.absolute(path)) }
        return location
    }

    /// This location with the settings of this host.
    package func with(_ settings: HostSettings) -> StoreLocation {
        var location = self
        location.hostSettings = settings
        return location
    }

    /// This location with an agent that may have the store key.
    package func opened(by agent: KeyAgentClient) -> StoreLocation {
        var location = self
        location.keyAgent = agent
        return location
    }

    /// The environment variables that determine a user's store.
    package static let variables = ["SMIME_HOME", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]

    /// Finds the user's store: `home` if given, otherwise `SMIME_HOME`, otherwise the XDG data and configuration
    /// directories.
    ///
    /// Source: XDG Base Directory Specification 0.8. As it requires, relative paths in its variables are ignored.
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

    /// The absolute form of `path` without trailing slashes, so that a symlink at the end of the path is recognized as one.
    private static func absolute(_ path: String) -> String {
        var path = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        while path.count > 1, path.hasSuffix("/") || path.hasSuffix("/.") { path.removeLast() }
        return path
    }
}

/// The source of the key that seals the store key.
package enum StoreKeySource: Equatable, Sendable {
    /// A file that the service manager provides and owns (systemd.exec(5), `LoadCredential=`). smime only reads it.
    case credential(String)
    /// A key file at another path.
    case file(String)
    /// The key file in the store's own directory, created along with the store.
    case home
    /// A program that prints the key, as bytes or in base64. It runs without a shell, without arguments, and without most
    /// of the environment.
    case program(String)

    /// The name of the systemd credential with the key, as in `LoadCredentialEncrypted=smime-store-key`.
    package static let credential = "smime-store-key"
    /// The environment variables that name a key source.
    package static let variables = [fileVariable, programVariable, "CREDENTIALS_DIRECTORY"]
    package static let fileVariable = "SMIME_STORE_KEY_FILE"
    package static let programVariable = "SMIME_STORE_KEY_COMMAND"

    /// Finds the key source: `file` or `program`, otherwise the file or program in an environment variable, otherwise the
    /// credential if it exists, otherwise the store's own directory.
    package init(file: String?, program: String?, environment: [String: String], exists: (String) -> Bool) {
        let isGiven = file != nil || program != nil
        let file = isGiven ? file : environment[Self.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
        let program = isGiven ? program : environment[Self.programVariable].flatMap { $0.isEmpty ? nil : $0 }
        let credential = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/\(Self.credential)" }
        if let program {
            self = .program(program)
        } else if let file {
            self = .file(file)
        } else if let credential, exists(credential) {
            self = .credential(credential)
        } else {
            self = .home
        }
    }

    /// Whether smime creates the key, and may replace it.
    package var isOurs: Bool {
        switch self {
        case .file, .home: true
        case .credential, .program: false
        }
    }
}
