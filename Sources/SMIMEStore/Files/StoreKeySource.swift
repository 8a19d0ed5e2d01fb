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
