/// Where the key that seals the store key comes from.
package enum StoreKeySource: Equatable, Sendable {
    /// What the service manager gives, as a file that belongs to it (systemd.exec(5), `LoadCredential=`). It is only read.
    case credential(String)
    /// A file elsewhere.
    case file(String)
    /// The file in the store's own directory, made with the store.
    case home
    /// A program that prints the key, as its bytes or as base64. It is run without a shell, arguments, or most of the environment.
    case program(String)

    /// The credential of systemd that is the key, as in `LoadCredentialEncrypted=smime-store-key`.
    package static let credential = "smime-store-key"
    /// The environment variables that name a source.
    package static let variables = [fileVariable, programVariable, "CREDENTIALS_DIRECTORY"]
    package static let fileVariable = "SMIME_STORE_KEY_FILE"
    package static let programVariable = "SMIME_STORE_KEY_COMMAND"

    /// The source a user means: a file or a program that is given, else the one that a variable names, else the credential, if there is
    /// one.
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

    /// Whether this program makes the key, and may replace it.
    package var isOurs: Bool {
        switch self {
        case .file, .home: true
        case .credential, .program: false
        }
    }
}
