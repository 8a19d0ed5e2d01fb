package import Foundation

/// A user of this system.
package struct SystemUser: Sendable {
    /// The name in the user database.
    package let name: String
    /// The number that files name as their owner.
    package let id: uid_t

    /// The user `name`; nil if the user database has none of that name.
    ///
    /// getpwnam(3)
    package init?(named name: String) {
        guard let entry = getpwnam(name) else { return nil }
        self.init(entry.pointee)
    }

    /// The user with the number `id`; nil if the user database has none with that number.
    ///
    /// getpwuid(3)
    package init?(id: uid_t) {
        guard let entry = getpwuid(id) else { return nil }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        id = entry.pw_uid
    }
}
