import SwiftASN1

/// What an authority may name, as far as mail addresses go.
///
/// libcrypto holds SmtpUTF8Mailbox against U-labels, as RFC 8398 had it; with the A-labels of RFC 9598 it finds an
/// international domain in no constraint. So such names are compared here once more.
///
/// RFC 5280 §4.2.1.10, RFC 9598 §6
struct MailConstraints {
    private var permitted: [String] = []
    private var excluded: [String] = []
    /// Whether there are permitted subtrees of any other kind.
    private var permitsOthers = false
    /// Whether they can be read; where they cannot, nothing may be named.
    private var isReadable = true

    /// The constraints in `authority`; nil if it has none.
    init?(of authority: Certificate) {
        guard let fields = try? CertificateFields(authority.der),
            let value = fields.extensions.lazy.compactMap(Self.value).first
        else { return nil }
        do { try read(value) } catch { isReadable = false }
    }

    /// The value of a nameConstraints extension; nil if `node` is another.
    private static func value(_ node: ASN1Node) -> [UInt8]? {
        guard var fields = try? ElementReader(node), (try? fields.next().objectIdentifier()) == [2, 5, 29, 30] else {
            return nil
        }
        _ = fields.optional(.boolean)
        return try? fields.next(.octetString).octets()
    }

    private mutating func read(_ value: [UInt8]) throws {
        var fields = try ElementReader(ASN1Node.read(value))
        for (tag, isPermitted) in [(ASN1Identifier.context(0), true), (.context(1), false)] {
            guard let subtrees = fields.optional(tag) else { continue }
            for subtree in try ElementReader(subtrees, tag).remaining {
                var subtree = try ElementReader(subtree)
                let base = try subtree.next()
                if base.identifier == .context(1) {
                    let text = String(decoding: try base.octets(), as: UTF8.self).lowercased()
                    if isPermitted { permitted.append(text) } else { excluded.append(text) }
                } else if isPermitted {
                    permitsOthers = true
                }
            }
        }
    }

    /// Whether `address` may be named.
    private func allows(_ address: String) -> Bool {
        isReadable && !excluded.contains { Self.matches(address, $0) }
            && (permitted.isEmpty || permitted.contains { Self.matches(address, $0) })
    }

    private static func matches(_ address: String, _ constraint: String) -> Bool {
        let address = address.lowercased()
        guard let at = address.lastIndex(of: "@") else { return false }
        if constraint.contains("@") { return address == constraint }
        let host = address[address.index(after: at)...]
        return constraint.hasPrefix(".") ? host.hasSuffix(constraint) : host == constraint
    }

    /// What the authorities of a path say to the international addresses of its first certificate.
    enum Finding {
        /// libcrypto knows as much.
        case nothing
        /// Every address of the certificate is allowed, and nothing but addresses is constrained.
        case allAllowed
        /// An authority may not name this address.
        case violation(String)
    }

    static func judge(_ path: [Certificate]) -> Finding {
        guard let leaf = path.first, leaf.internationalAddresses.contains(where: { $0.utf8.isASCIIDomain }) else {
            return .nothing
        }
        let constraints = path.dropFirst().compactMap(MailConstraints.init)
        let ascii = leaf.internationalAddresses.filter { $0.utf8.isASCIIDomain }
        if let address = ascii.first(where: { address in !constraints.allSatisfy { $0.allows(address) } }) {
            return .violation(address)
        }
        let all = Set(leaf.addresses + leaf.subject.emailAddresses)
        let isAllowed = constraints.allSatisfy { !$0.permitsOthers && all.allSatisfy($0.allows) }
        return isAllowed && leaf.internationalAddresses.count == ascii.count ? .allAllowed : .nothing
    }
}

extension String.UTF8View {
    /// Whether what follows the last @ is ASCII.
    fileprivate var isASCIIDomain: Bool {
        guard let at = lastIndex(of: UInt8(ascii: "@")) else { return false }
        return self[at...].allSatisfy { $0 < 0x80 }
    }
}
