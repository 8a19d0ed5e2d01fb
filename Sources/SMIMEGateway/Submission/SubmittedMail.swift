package import ByteStreams
import InternetMessage
import SMIME
import SMIMEAgent

/// A mail that a program on this host submits, prepared for the policy: the recipients are determined, and the addresses of
/// the envelope and in From have a domain.
///
/// RFC 6409 §8
package struct SubmittedMail: Sendable {
    /// The message. The engine removes its Bcc fields.
    package let source: any ByteSource
    /// The envelope sender.
    package let sender: EnvelopeSender
    /// The envelope recipients, each once.
    package let recipients: [String]

    /// Reads a mail that a program passes in the same way as to sendmail.
    ///
    /// - Parameters:
    ///   - source: the message.
    ///   - recipients: the recipients on the command line; each text may be an address list.
    ///   - readsHeader: whether the addresses in To, Cc and Bcc are recipients as well; for a resent message, those in its
    ///     Resent fields.
    ///   - sender: the envelope sender. Nil means the author, or the resender of a resent message; if there is none, the
    ///     user.
    ///   - name: the full name of the user, for a From field that must be added.
    ///   - user: the name of the user on this host.
    ///   - qualifier: adds the domain to names without one.
    /// - Throws: `GatewayRefusal` if the message is empty, has no recipients or a malformed address in a field for
    ///   recipients, or if it is not clear who resent it (see `resender`); what reading throws.
    package init(
        _ source: any ByteSource,
        to recipients: [String],
        readsHeader: Bool,
        from sender: EnvelopeSender?,
        named name: String?,
        user: String,
        _ qualifier: AddressQualifier
    ) throws {
        guard source.count > 0 else { throw GatewayRefusal.emptyMessage("standard input") }
        let header = try MIMEReader.message(in: source).header
        var found = try recipients.flatMap { try Self.recipients(in: $0, qualifier) }
        let resent = ResentFields(header)
        if readsHeader { found += try Self.recipients(in: header, qualifier) }
        found = found.exactlyUnique
        guard !found.isEmpty else {
            throw GatewayRefusal(.message, "5.1.3", explanation: "the message has no recipients")
        }
        let login = EnvelopeSender(qualifier.qualified(user))
        let author: EmailAddress? =
            if resent.isEmpty {
                try Self.mailbox(in: header.all("From"), qualifier)
            } else if sender == nil {
                try Self.resender(resent, qualifier)
            } else {
                nil
            }
        self.recipients = found
        self.sender =
            try sender.map { try Self.qualified($0, qualifier) } ?? author.map(EnvelopeSender.address) ?? login
        // A resent message gets no new From field, because its sender is not its author.
        let written = resent.isEmpty ? self.sender.address ?? login.address : nil
        self.source = try Self.completed(source, header, author: written, named: name, qualifier: qualifier)
    }

    /// The sender with a domain, as sendmail reads it: without a name, a comment and blanks around the address.
    ///
    /// - Throws: `GatewayRefusal` for text that sendmail may read as another address than the rules do.
    private static func qualified(
        _ sender: EnvelopeSender,
        _ qualifier: AddressQualifier
    ) throws(GatewayRefusal) -> EnvelopeSender {
        guard case .other(let text) = sender else { return sender }
        let whole = EnvelopeSender(qualifier.qualified(text))
        guard case .other = whole, let list = try? AddressList(qualifier.qualified(list: text)),
            !list.defects.contains(.malformed), list.mailboxes.count == 1, let address = list.addresses.first
        else {
            guard
                !text.unicodeScalars.contains(where: {
                    "<>(),:;\"\\!%".unicodeScalars.contains($0) || $0.properties.isWhitespace
                })
            else {
                throw GatewayRefusal(
                    .message,
                    "5.1.7",
                    explanation: "the sender is not one mail address: \(text.escapedForDisplay)"
                )
            }
            return whole
        }
        return .address(address)
    }

    /// The recipients in `argument`, which may be an address list, as in cron's MAILTO: `eve,fred` or `Eve <eve@example.com>`.
    /// Text that is no list is returned unchanged, so that it is refused as a recipient.
    private static func recipients(in argument: String, _ qualifier: AddressQualifier) throws -> [String] {
        let recipient = qualifier.qualified(argument)
        guard EmailAddress(recipient: recipient, on: "") == nil else { return [recipient] }
        let list = try Self.list(argument, qualifier)
        return list.defects.contains(.malformed) || list.mailboxes.isEmpty ? [argument] : list.addresses.map(\.text)
    }

    /// The recipients in `text`, in the forms that mail servers accept.
    private static func list(_ text: String, _ qualifier: AddressQualifier) throws -> AddressList {
        try AddressList(qualifier.qualified(list: text), reading: { EmailAddress(recipient: $0, on: "") })
    }

    /// The recipients' addresses in the header.
    ///
    /// - Throws: `GatewayRefusal` that names the field with a malformed address: no recipient may be left out silently.
    private static func recipients(in header: HeaderBlock, _ qualifier: AddressQualifier) throws -> [String] {
        try (header.visibleRecipientFields + header.hiddenRecipientFields).flatMap { field in
            guard !field.value.isEmpty else { return [String]() }
            let list = try Self.list(field.value, qualifier)
            guard list.defects.isDisjoint(with: [.malformed]) else {
                throw GatewayRefusal(
                    .message,
                    "5.1.3",
                    explanation:
                        "\(field.name): it contains text that is not an address: \(field.value.escapedForDisplay)"
                )
            }
            return list.addresses.map(\.text)
        }
    }

    /// The resender: the single mailbox in Resent-From, or in Resent-Sender if Resent-From has several; never the author.
    /// Nil if there is none.
    ///
    /// A Resent-Sender that differs from a single Resent-From may come from the original message, so it does not determine
    /// which rules apply.
    ///
    /// RFC 5322 §3.6.6
    /// - Throws: `GatewayRefusal` if Resent-Sender differs from the single mailbox in Resent-From.
    private static func resender(_ fields: ResentFields, _ qualifier: AddressQualifier) throws -> EmailAddress? {
        let people = fields.all("Resent-From")
        guard let field = people.first else { return nil }
        let senders = fields.all("Resent-Sender")
        guard let person = try mailbox(in: people, qualifier) else {
            let list = try AddressList(qualifier.qualified(list: field.value))
            return list.addresses.count > 1 ? try mailbox(in: senders, qualifier) : nil
        }
        guard try senders.isEmpty || mailbox(in: senders, qualifier)?.key == person.key else {
            throw GatewayRefusal(
                .message,
                "5.6.0",
                explanation: "Resent-From and Resent-Sender name different people: it is not clear whose rules apply",
                hints: ["name the sender: smime sendmail -f ADDRESS"]
            )
        }
        return person
    }

    /// The only mailbox in the only one of `fields`; nil if there is no field or no mailbox, or more than one.
    private static func mailbox(in fields: [HeaderField], _ qualifier: AddressQualifier) throws -> EmailAddress? {
        guard fields.count == 1, let field = fields.first else { return nil }
        let list = try AddressList(qualifier.qualified(list: field.value))
        return list.addresses.count == 1 ? list.addresses.first : nil
    }

    /// The message with a From field that permits signing: a missing field is added, and the domain is added to an address
    /// without a domain.
    private static func completed(
        _ source: any ByteSource,
        _ header: HeaderBlock,
        author: EmailAddress?,
        named name: String?,
        qualifier: AddressQualifier
    ) throws -> any ByteSource {
        guard let field = header.first("From") else {
            guard let author else { return source }
            let phrase = name.map { "\"\($0.replacing("\\", with: "").replacing("\"", with: "'"))\" " } ?? ""
            let isPlain = phrase.utf8.allSatisfy { 32...126 ~= $0 }
            let value = isPlain ? "\(phrase)<\(author)>" : "\(EncodedWord.encode(name ?? "")) <\(author)>"
            return HeaderEdit(added: [NewField("From", value: value)]).apply(to: source, header)
        }
        let qualified = qualifier.qualified(list: field.value)
        guard qualified != field.value, header.all("From").count == 1 else { return source }
        var edit = HeaderEdit()
        edit.replacement = { other in
            other.isNamed("From")
                ? NewField("From", value: qualified).bytes(lineEnd: header.lineEnd) : Array(other.rawBytes)
        }
        return edit.apply(to: source, header)
    }
}

/// Adds the domain to names without a domain, as programs on a host write them: `root` becomes `root@host.example.org`.
package struct AddressQualifier: Sendable {
    private let domain: String

    /// - Parameter domain: the domain for mail from this host.
    package init(domain: HostName) { self.domain = domain.full }

    /// `name` with this host's domain if it is a local name; otherwise unchanged.
    package func qualified(_ name: String) -> String { Self.isLocalName(name) ? "\(name)@\(domain)" : name }

    /// `text` with this host's domain added to local names, for example in `root (Cron Daemon)` and `Root <root>`. A
    /// valid address list is not changed.
    package func qualified(list text: String) -> String {
        guard let list = try? AddressList(text), list.defects.contains(.malformed) else { return text }
        return Self.elements(of: text).map(element).joined(separator: ",")
    }

    private func element(_ text: Substring) -> String {
        if let start = text.lastIndex(of: "<"), let end = text.lastIndex(of: ">"), start < end {
            let inside = text[text.index(after: start)..<end]
            return text[...start] + qualified(String(inside)) + text[end...]
        }
        let name = text.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != "(" }
        guard Self.isLocalName(String(name)) else { return String(text) }
        let rest = text[name.endIndex...].drop(while: \.isWhitespace)
        guard rest.isEmpty || rest.hasPrefix("(") else { return String(text) }
        return text[..<name.endIndex] + "@\(domain)" + text[name.endIndex...]
    }

    /// The elements of a list between its commas. Commas in quotes and comments do not separate elements.
    private static func elements(of text: String) -> [Substring] {
        var elements: [Substring] = []
        var (start, depth, isQuoted, isEscaped) = (text.startIndex, 0, false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\": isEscaped = isQuoted || depth > 0
            case "\"" where depth == 0: isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted && depth > 0: depth -= 1
            case "," where !isQuoted && depth == 0:
                elements.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return elements + [text[start...]]
    }

    /// Whether `name` is a plain user name: letters, digits and `._+-`, beginning with a letter or digit.
    private static func isLocalName(_ name: String) -> Bool {
        guard let first = name.utf8.first, Self.isWord(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { isWord($0) || "._+-".utf8.contains($0) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }
}
