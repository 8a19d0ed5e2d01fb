import Foundation

/// The name of a host: letters, digits, `-` and `.` (RFC 1123 §2.1), and also `_`. Such a name needs no quoting in a
/// header field.
package struct HostName: Hashable, Sendable {
    /// The name with its domain, if the domain is known.
    package let full: String
    /// The name without its domain.
    package var bare: String { String(full.prefix { $0 != "." }) }

    /// Returns nil if `full` is not the name of a host, or is longer than 255 bytes.
    package init?(_ full: String) {
        let isName = full.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || "-._".utf8.contains(byte)
        }
        guard isName, !full.isEmpty, full.utf8.count <= 255 else { return nil }
        self.full = full
    }

    /// The name of this host. If the name has no domain, the domain is looked up as hostname(1) does, which may block.
    package init() {
        let name = Self.unresolved
        self = name.full.contains(".") ? name : Self.canonical(name.full) ?? name
    }

    /// The name of this host as the system stores it, with or without its domain; `localhost` if that is not the name
    /// of a host.
    package static var unresolved: HostName {
        var buffer = [CChar](repeating: 0, count: 256)
        let name = gethostname(&buffer, buffer.count - 1) == 0 ? HostName(text(buffer)) : nil
        return name ?? localhost
    }

    private static let localhost = HostName(unchecked: "localhost")

    private init(unchecked full: String) { self.full = full }

    private static func canonical(_ name: String) -> HostName? {
        CanonicalName.resolved(name).flatMap { $0.contains(".") ? HostName($0) : nil }
    }

    private static func text(_ buffer: [CChar]) -> String {
        String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
