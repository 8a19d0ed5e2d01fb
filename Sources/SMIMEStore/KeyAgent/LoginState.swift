package import Foundation

/// Whether a user is logged in, according to systemd-logind.
///
/// A process that remains after logout may keep the user's runtime directory in place: by default logind does not kill such
/// processes, and with lingering the directory always stays.
///
/// sd_uid_get_state(3)
package struct LoginState {
    /// The path of logind's file about the user. The file is possibly missing.
    private let path: String
    private var wasOn = false

    /// - Parameter folder: the directory of logind's files about users.
    package init(of user: uid_t = geteuid(), in folder: String = "/run/systemd/users") { path = "\(folder)/\(user)" }

    /// Whether the user was logged in at an earlier call, and is not logged in now.
    package mutating func hasEnded() -> Bool {
        if isOn { wasOn = true } else if wasOn { return true }
        return false
    }

    private var isOn: Bool {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return text.split(separator: "\n").contains { ["STATE=active", "STATE=online"].contains($0) }
    }
}
