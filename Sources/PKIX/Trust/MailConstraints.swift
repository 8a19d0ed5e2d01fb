import SwiftASN1

/// The mail addresses for which an authority may issue certificates.
///
/// libcrypto's check is insufficient, so all addresses are compared again here:
///
/// - libcrypto compares local parts byte by byte, whereas this package ignores differences of case and quoting.
/// - libcrypto ignores the local parts of SmtpUTF8Mailbox.
/// - libcrypto compares the domains of SmtpUTF8Mailbox as U-labels (RFC 8398), so it finds no constraint for an international
///   domain with the A-labels of RFC 9598.
/// - libcrypto considers `example.com.` a domain other than `example.com`.
///
/// RFC 5280 §4.2.1.10, RFC 9598 §6
struct MailConstraints {
    private var permitted: [MailName] = []
    private var excluded: [MailName] = []
    /// Subtrees of SmtpUTF8Mailbox names, a form that RFC 9598 does not use for constraints. They only concern such names.
    private var permittedInternational: [MailName] = []
    private var excludedInternational: [MailName] = []
    /// Whether there are permitted subtrees of other kinds of names.
    private var permitsOthers = false
    /// Whether a permitted domain ends in a dot, so that libcrypto finds no address in it.
    private var permitsRooted = false
    /// Whether the constraints are readable; if not, no address is allowed.
    private var isReadable = true

    /// The name constraints of `authority`; nil if the authority has none.
    init?(of authority: Certificate) {
        guard let value = authority.nameConstraints else { return nil }
        do { try read(value) } catch { isReadable = false }
    }

    private mutating func read(_ value: [UInt8]) throws {
        var fields = try ElementReader(ASN1Node.read(value))
        for (tag, isPermitted) in [(ASN1Identifier.context(0), true), (.context(1), false)] {
            guard let subtrees = fields.optional(tag) else { continue }
            for subtree in try ElementReader(subtrees, tag).remaining {
                var subtree = try ElementReader(subtree)
                let base = try subtree.next()
                if base.identifier == .context(1) {
                    let octets = try base.octets()
                    // An IA5String in U-labels has no meaning. To be safe, an excluded one covers all addresses.
                    if !isPermitted, octets.contains(where: { $0 >= 0x80 }) { isReadable = false }
                    let name = MailName(String(decoding: octets, as: UTF8.self))
                    if isPermitted { permitted.append(name) } else { excluded.append(name) }
                    if isPermitted, octets.last == UInt8(ascii: ".") { permitsRooted = true }
                } else if let mailbox = try Self.internationalMailbox(base) {
                    let name = MailName(mailbox)
                    if isPermitted { permittedInternational.append(name) } else { excludedInternational.append(name) }
                } else if isPermitted {
                    permitsOthers = true
                }
            }
        }
    }

    /// The value of an otherName of the type SmtpUTF8Mailbox (RFC 9598 §3); nil for other names.
    private static func internationalMailbox(_ name: ASN1Node) throws -> String? {
        guard name.identifier == .context(0) else { return nil }
        var fields = try ElementReader(name, .context(0))
        guard try fields.next().objectIdentifier() == [1, 3, 6, 1, 5, 5, 7, 8, 9] else { return nil }
        return String(decoding: try fields.next(.context(0)).onlyChild().octets(), as: UTF8.self)
    }

    /// Whether a certificate may contain the SmtpUTF8Mailbox `address`, according to constraints of that form.
    private func allows(international address: String) -> Bool {
        let name = MailName(address)
        return !excludedInternational.contains { $0.isEmpty || name.isIn($0) }
            && (permittedInternational.isEmpty || permittedInternational.contains(where: name.isIn))
    }

    /// Whether a certificate may contain `address`.
    private func allows(_ address: String) -> Bool {
        let name = MailName(address)
        // A domain in U-labels, which RFC 9598 §3 forbids, might be equivalent to any domain in A-labels.
        guard isReadable, excluded.isEmpty || name.domain.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        // An empty constraint has no meaning in RFC 5280. To be safe, an excluded one covers all addresses.
        return !excluded.contains { $0.isEmpty || name.isIn($0) }
            && (permitted.isEmpty || permitted.contains(where: name.isIn))
    }

    /// The result for the addresses of a path's first certificate.
    enum Finding {
        /// libcrypto's own check is sufficient.
        case nothing
        /// Every address is allowed, even if libcrypto does not permit it. All permitted subtrees are for addresses.
        case allAllowed
        /// An authority in the path must not issue a certificate for this address.
        case violation(String)
    }

    static func judge(_ path: [Certificate]) -> Finding {
        let constraints = path.dropFirst().compactMap(MailConstraints.init)
        guard let leaf = path.first, !constraints.isEmpty else { return .nothing }
        let addresses = leaf.addresses + leaf.subject.emailAddresses
        // libcrypto itself checks domains in U-labels.
        let withULabels = leaf.internationalAddresses.filter { !MailName($0).domain.utf8.allSatisfy { $0 < 0x80 } }
        let forbidden = addresses.first { address in
            constraints.contains { !$0.allows(address) && (!$0.excluded.isEmpty || !withULabels.contains(address)) }
        }
        if let forbidden { return .violation(forbidden) }
        let forbiddenMailbox = leaf.internationalAddresses.first { address in
            constraints.contains { !$0.allows(international: address) }
        }
        if let forbiddenMailbox { return .violation(forbiddenMailbox) }
        let isUnlikeLibcrypto = !leaf.internationalAddresses.isEmpty || constraints.contains(where: \.permitsRooted)
        let isAllowed = isUnlikeLibcrypto && withULabels.isEmpty
        return isAllowed && constraints.allSatisfy { !$0.permitsOthers } ? .allAllowed : .nothing
    }
}

/// An address, or a constraint on addresses, in a form for comparison.
private struct MailName {
    /// The local part without quotes, with ASCII letters in lower case; nil for a constraint on a domain.
    let localPart: [UInt8]?
    /// The domain, with ASCII letters in lower case and without the dot of the root at its end (RFC 1034 §3.1).
    let domain: String

    init(_ text: String) {
        var bytes = text.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            (localPart, domain) = (nil, text)
            return
        }
        domain = String(text[text.utf8.index(after: at)...])
        // libcrypto reads a constraint such as `@example.com` as one on the domain.
        localPart = at == text.utf8.startIndex ? nil : Self.unquoted(text.utf8[..<at])
    }

    /// Whether the name is an empty constraint.
    var isEmpty: Bool { localPart == nil && domain.isEmpty }

    /// Whether this address is within the constraint `other`.
    ///
    /// RFC 5280 §4.2.1.10
    func isIn(_ other: MailName) -> Bool {
        guard let localPart else { return false }
        if let mailbox = other.localPart { return localPart == mailbox && domain == other.domain }
        return other.domain.hasPrefix(".") ? domain.hasSuffix(other.domain) : domain == other.domain
    }

    /// The value of a quoted string; text without quotes is returned unchanged.
    private static func unquoted(_ text: Substring.UTF8View) -> [UInt8] {
        guard text.count > 1, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else {
            return Array(text)
        }
        var content: [UInt8] = []
        var rest = text.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            content.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return content
    }
}
