import Foundation

/// The environment of the process, without the passphrases that options name.
enum ProcessEnvironment {
    /// The environment variable that names a store's database on a server.
    static let store = "SMIME_STORE"
    /// The environment variable with the number of seconds to wait for the store.
    static let storeTimeout = "SMIME_STORE_TIMEOUT"
    /// The name of the systemd credential that contains the store's passphrase, as in
    /// `LoadCredentialEncrypted=smime-passphrase` (systemd.exec(5)).
    static let passphraseCredential = "smime-passphrase"

    /// The value of the environment variable `name`; nil if there is none.
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The environment variables among `names` that exist. The whole environment is not copied, because that would take as long
    /// as a query of the store.
    static subscript(names: [String]) -> [String: String] {
        names.reduce(into: [:]) { $0[$1] = self[$1] }
    }
}
