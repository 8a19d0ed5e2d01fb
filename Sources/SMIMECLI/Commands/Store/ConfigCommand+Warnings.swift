import Foundation
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.ConfigCommand.Set {
    /// Warns if the new value has no effect for now, because of the file that it names or because of another setting.
    func warn(of value: String, in store: Store) async throws {
        if let obstacle = key.setting.obstacle(of: value) {
            Console.warning("\(value): \(obstacle)")
            Console.hint("make sure the store's user can read or run it, then: smime doctor")
        }
        if key.setting == .sendmail, SendmailCommand(parsing: value)?.program == value {
            let arguments = SendmailCommand.standardArguments.joined(separator: " ")
            Console.note("the value has no arguments, so the program gets \(arguments)")
        }
        let password = try await store.settings.value(of: Setting.lookupLDAPPassword.rawValue) ?? ""
        if key.setting == .lookupLDAPName, !value.isEmpty, password.isEmpty {
            Console.warning("no password is set, so the LDAP server cannot be queried")
            Console.hint(
                "give the password in a file: lookup.ldap.password-file, or the systemd credential smime-ldap-password"
            )
        }
        let order =
            try await store.settings.value(of: Setting.lookupOrder.rawValue) ?? Setting.lookupOrder.standard
        guard let source = key.setting.source, !value.isEmpty, value != "off",
            !order.split(whereSeparator: { $0 == " " || $0 == "," }).contains(Substring(source))
        else { return }
        Console.warning("lookup.order does not name \(source), so this source is not used")
        Console.hint("smime config set lookup.order '\(order) \(source)'")
    }
}

extension Setting {
    /// The name of the source of certificates that the setting turns on; nil for other settings.
    fileprivate var source: String? {
        switch self {
        case .lookupCommand: "command"
        case .lookupDirectory: "directory"
        case .lookupLDAP: "ldap"
        case .lookupSMIMEA: "smimea"
        default: nil
        }
    }

    /// Why the file, folder or program at `path` cannot be used for now; nil if it can, or if the value is not a path.
    fileprivate func obstacle(of path: String) -> String? {
        guard !path.isEmpty else { return nil }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        switch self {
        case .lookupDirectory:
            return exists && isFolder.boolValue && access(path, R_OK | X_OK) == 0
                ? nil : "not a readable folder, so no certificates are found in it"
        case .revocationDirectory:
            return exists && isFolder.boolValue && access(path, R_OK | X_OK) == 0
                ? nil : "not a readable folder, so its revocation lists are not used"
        case .sendmail:
            let program = SendmailCommand(parsing: path)?.program
            return program.map { access($0, X_OK) == 0 } == true ? nil : "not an executable program"
        case .lookupCommand:
            return exists && !isFolder.boolValue && access(path, X_OK) == 0 ? nil : "not an executable program"
        case .lookupLDAPAuthorities, .lookupLDAPPassword, .lookupSMIMEATrustAnchor:
            return exists && !isFolder.boolValue && access(path, R_OK) == 0 ? nil : "not a readable file"
        default: return nil
        }
    }
}
