import Foundation

/// The environment of the process, without the passphrases that options name.
enum ProcessEnvironment {
    /// The variable that names the database of the store on a server.
    static let store = "SMIME_STORE"
    /// The variable that says how many seconds to wait for the store.
    static let storeTimeout = "SMIME_STORE_TIMEOUT"
    /// The credential of systemd that is the store's passphrase, as in `LoadCredentialEncrypted=smime-passphrase`
    /// (systemd.exec(5)).
    static let passphraseCredential = "smime-passphrase"

    /// The variable called `name`; nil if there is none.
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// The existing variables among `names`. Copying all variables would take as long as a query of the store.
    static subscript(names: [String]) -> [String: String] {
        names.reduce(into: [:]) { $0[$1] = self[$1] }
    }
}
