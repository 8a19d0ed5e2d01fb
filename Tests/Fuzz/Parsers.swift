import ByteStreams
import CMSSyntax
import InternetMessage
import LibCrypto
import PKIX

extension Target {
    /// Header fields and the values parsed from them.
    static let headers = Target(name: "headers") { bytes in
        guard let header = try? HeaderBlock(parsing: bytes) else { return }
        for field in header.fields {
            if let list = try? AddressList(field: field) {
                for mailbox in list.mailboxes {
                    let text = mailbox.address.text
                    require((try? EmailAddress(text)) == mailbox.address, "an address survives being written")
                    require(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "no address holds a control character")
                }
            }
            _ = ContentType(field: field)
            _ = ContentDisposition(field: field)
            _ = field.value.escapedForDisplay
        }
    }

    /// The positions of a message's parts, and their decoded bodies.
    static let structure = Target(name: "structure") { bytes in
        let source = MemorySource(bytes)
        guard let message = try? MIMEReader.message(in: source) else { return }
        require(message.range.lowerBound >= 0 && message.range.upperBound <= bytes.count, "a message lies inside")
        requireOrder(message)
        var waiting = [message]
        while let entity = waiting.popLast() {
            _ = try? entity.decodedBody(of: source).makeReader().copy(to: CountingSink())
            _ = try? entity.canonicalStream(of: source).makeReader().copy(to: CountingSink())
            waiting += entity.children
        }
    }

    /// The BER reader and the CMS structures based on it.
    static let cms = Target(name: "cms") { bytes in
        let stream = MemorySource(bytes).stream()
        _ = try? CMSOutline(reading: stream)
        if let signed = try? SignedData(reading: stream) {
            for signer in signed.signers.prefix(2) { _ = signed.check(signer, candidates: signed.certificates) }
        }
        if let enveloped = try? EnvelopedData(reading: stream) {
            for recipient in enveloped.recipients.prefix(2) {
                for person in People.all {
                    guard let key = try? enveloped.key(for: recipient, with: person.key) else { continue }
                    _ = try? enveloped.check(with: key) { CountingSink() }
                }
            }
        }
    }

    /// PKCS#12 files and the other formats of keys.
    static let pkcs12 = Target(name: "pkcs12") { bytes in
        _ = PKCS12.isPKCS12(bytes)
        _ = try? KeyMaterial.read(bytes)
        guard isCheap(try? PKCS12Outline(bytes)) else { return }
        _ = try? PKCS12(bytes, passphrase: Passphrase("test".utf8))
        _ = try? PKCS12(bytes, passphrase: nil)
    }

    /// Whether key derivation for the file is fast. Derivation is the slow part, and its limits have separate tests.
    private static func isCheap(_ outline: PKCS12Outline?) -> Bool {
        guard let outline else { return true }
        let derivations =
            [outline.mac].compactMap(\.self)
            + outline.parts.flatMap { [$0.encryption].compactMap(\.self) + $0.keyEncryptions }
        return derivations.allSatisfy { text in
            let iterations = text.firstMatch(of: /([0-9]+) iterations/).flatMap { Int($0.output.1) }
            return !text.contains("scrypt") && iterations ?? 0 <= 2500
        }
    }
}

extension Target {
    /// From fields: which ones are a single mailbox that all programs read alike.
    static let from = Target(name: "from") { bytes in
        let header = try? HeaderBlock(parsing: Array("From:".utf8) + bytes + Array("\r\n\r\n".utf8))
        guard let field = header?.first("From") else { return }
        _ = try? AddressList(field: field)
        guard let mailbox = Mailbox(soleIn: field) else { return }
        require((try? AddressList(field: field))?.addresses == [mailbox.address], "a list of one reads the same")
        require((try? EmailAddress(mailbox.address.text)) == mailbox.address, "the address survives being written")
        require(!mailbox.address.text.contains("=?"), "no encoded word is an address")
        _ = mailbox.displayNamePosesAsAddress
        // No text that an attacker appends may change the field's mailbox to another one.
        for addition in [", a@b.test", "; a@b.test", " <a@b.test>", ":"] {
            let longer = try? HeaderBlock(
                parsing: Array("From:".utf8) + field.bodyBytes.trimmingLineEnd + Array("\(addition)\r\n\r\n".utf8)
            )
            let found = longer?.first("From").flatMap { Mailbox(soleIn: $0) }
            require(found == nil || found?.address == mailbox.address, "nothing behind it changes who it is")
        }
    }
}

extension ArraySlice<UInt8> {
    /// These bytes without a line end.
    fileprivate var trimmingLineEnd: ArraySlice {
        self[..<(lastIndex { $0 != 10 && $0 != 13 }.map { $0 + 1 } ?? startIndex)]
    }
}
