import Foundation

/// The full names of hosts, as the system resolves them.
enum CanonicalName {
    /// The canonical name of `name`; nil if the system knows none. Blocks while the system resolves the name.
    ///
    /// getaddrinfo(3), `AI_CANONNAME`
    static func resolved(_ name: String) -> String? {
        var hints = addrinfo()
        hints.ai_flags = AI_CANONNAME
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        return found.pointee.ai_canonname.map { String(cString: $0) }
    }
}
