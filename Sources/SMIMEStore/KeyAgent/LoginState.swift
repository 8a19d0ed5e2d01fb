package import Foundation

/// Whether a user is logged in, according to systemd-logind.
///
/// A process that a login has left behind may keep the user's runtime directory: logind kills none by default, and with lingering the
/// directory stays in any case.
///
/// sd_uid_get_state(3)
package struct LoginState {
    /// What logind writes about the user; it may not exist.
    private let path: String
    private var wasOn = false

    /// - Parameter folder: where logind writes about users.
    package init(of user: uid_t = geteuid(), in folder: String = "/run/systemd/users") { path = "\(folder)/\(user)" }

    /// Whether the user was logged in at an earlier call, and is not now.
    package mutating func hasEnded() -> Bool {
        if isOn { wasOn = true } else if wasOn { return true }
        return false
    }

    private var isOn: Bool {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return false }
        return text.split(separator: "\n").contains { ["STATE=active", "STATE=online"].contains($0) }
    }
}
