import ByteStreams
import PKIX
import SwiftASN1

extension CMSOutline {
    /// Reads the object after its content type. If this throws an error, the elements read before are kept.
    mutating func read(_ reader: BERReader, _ sink: any ByteSink) throws {
        switch type {
        case .data: try readContent(reader, .octetString, sink: sink)
        case .other:
            let text = "the CMS type \(typeName) is unknown, so nothing inside the object was read"
            problems.append(Problem(.contentTypeUnknown, text))
            return
        default:
            try reader.enter(.sequence)
            _ = try Int(berEncoded: reader.readNode())
            try readFields(reader, sink)
            try reader.leave()
        }
        for _ in 0..<2 { try reader.leave() }
        if try !reader.isExhausted() {
            problems.append(Problem(.trailingBytes, "bytes follow the CMS object"))
            isSound = false
        }
    }

    /// Reads what follows the version.
    private mutating func readFields(_ reader: BERReader, _ sink: any ByteSink) throws {
        switch type {
        case .signedData:
            for node in try element(reader).children(expecting: .set) { algorithms.append(try name(node)) }
            try readEncapsulated(reader, sink)
            try readCertificates(reader)
            try readSigners(reader)
        case .envelopedData, .authEnvelopedData:
            if try reader.peek()?.identifier == .context(0) {
                try reader.enter(.context(0))
                try readCertificates(reader)
                try reader.leave()
            }
            try readRecipients(reader)
            try readEncrypted(reader, sink)
            if type == .authEnvelopedData {
                authenticatedAttributes = try attributes(reader, .context(1))
                tagCount = try ASN1OctetString(berEncoded: element(reader)).bytes.count
            }
            unprotectedAttributes = try attributes(reader, .context(type == .authEnvelopedData ? 2 : 1))
        case .encryptedData:
            try readEncrypted(reader, sink)
            unprotectedAttributes = try attributes(reader, .context(1))
        case .digestedData:
            algorithms.append(try name(element(reader)))
            try readEncapsulated(reader, sink)
            _ = try element(reader)
        default:
            algorithms.append(try name(element(reader)))
            try readEncapsulated(reader, sink)
        }
    }

    /// EncapsulatedContentInfo (RFC 5652 §5.2).
    private mutating func readEncapsulated(_ reader: BERReader, _ sink: any ByteSink) throws {
        try reader.enter(.sequence)
        contentType = try element(reader).objectIdentifier().displayName
        if try reader.peek()?.identifier == .context(0) {
            try reader.enter(.context(0))
            if try reader.peek()?.identifier == .octetString {
                try readContent(reader, .octetString, sink: sink)
            } else {
                // PKCS#7 1.5 allows content of any type here, in one element.
                contentCount = try reader.readElement().count
                problems.append(Problem(.contentNotOctets, "the content is not an OCTET STRING"))
            }
            try reader.leave()
        }
        try reader.leave()
    }

    /// EncryptedContentInfo (RFC 5652 §6.1).
    private mutating func readEncrypted(_ reader: BERReader, _ sink: any ByteSink) throws {
        try reader.enter(.sequence)
        contentType = try element(reader).objectIdentifier().displayName
        let cipher = try AlgorithmIdentifier(berEncoded: element(reader))
        algorithms.append(cipher.displayName)
        contentEncryption = try? ContentEncryption(cipher)
        if try reader.peek()?.identifier == .context(0) { try readContent(reader, .context(0), sink: sink) }
        try reader.leave()
    }

    private mutating func readContent(
        _ reader: BERReader,
        _ identifier: ASN1Identifier,
        sink: any ByteSink
    ) throws {
        contentCount = try OctetStringReader(reader, identifier: identifier).copy(to: sink)
    }

    /// Reads the optional sets of certificates and of revocation lists.
    private mutating func readCertificates(_ reader: BERReader) throws {
        var unreadable = 0
        try forEach(in: reader, .context(0), limit: SignedData.maximumCertificates, of: "certificates") {
            outline,
            der in
            // Attribute certificates and obsolete PKCS#6 certificates have other tags; they are skipped.
            guard der.first == 0x30 else { return }
            do { outline.certificates.append(try Certificate(der: der)) } catch { unreadable += 1 }
        }
        if unreadable > 0 {
            let text = "\(unreadable) of the included certificates cannot be read"
            problems.append(Problem(.certificateUnreadable, text))
        }
        unreadable = 0
        try forEach(in: reader, .context(1), limit: SignedData.maximumCertificates, of: "CRLs") { outline, der in
            guard der.first == 0x30 else { return }
            do { outline.certificateLists.append(try CertificateList(der: der)) } catch { unreadable += 1 }
        }
        if unreadable > 0 {
            let text = "\(unreadable) of the included revocation lists cannot be read"
            problems.append(Problem(.crlUnreadable, text))
        }
    }

    private mutating func readSigners(_ reader: BERReader) throws {
        guard try reader.peek()?.identifier == .set else { throw CMSError.malformed(.cms, "no SignerInfos") }
        try forEach(in: reader, .set, limit: SignedData.maximumSigners, of: "signers") { outline, der in
            outline.reading { $0.signers.append(try SignerInfo(berEncoded: ASN1Node.read(der))) }
        }
    }

    private mutating func readRecipients(_ reader: BERReader) throws {
        let limit = EnvelopedLayout.maximumRecipients
        guard try reader.peek()?.identifier == .set else { throw CMSError.malformed(.cms, "no RecipientInfos") }
        try forEach(in: reader, .set, limit: limit, of: "recipients") { outline, der in
            outline.reading { outline in
                outline.recipients += try RecipientInfo.read(ASN1Node.read(der))
                guard outline.recipients.count <= limit else { throw CMSError.limitExceeded("\(limit) recipients") }
            }
        }
        if recipients.isEmpty, problems.isEmpty {
            problems.append(Problem(.noRecipients, "the CMS object has no recipients"))
            isSound = false
        }
    }

    /// Reads one element of a set. An error in the element is recorded and does not affect the others.
    private mutating func reading(_ body: (inout Self) throws -> Void) {
        do { try parsing(.cms) { try body(&self) } } catch { note(error) }
    }

    /// Calls `body` with the encoding of each element of an optional set.
    private mutating func forEach(
        in reader: BERReader,
        _ identifier: ASN1Identifier,
        limit: Int,
        of kind: String,
        body: (inout Self, [UInt8]) -> Void
    ) throws {
        guard try reader.peek()?.identifier == identifier else { return }
        try reader.enter(identifier)
        var seen = 0
        while try reader.peek() != nil {
            guard seen < limit else { throw CMSError.limitExceeded("\(limit) \(kind)") }
            seen += 1
            let element = try reader.readElement()
            try spend(element.count)
            body(&self, element)
        }
        try reader.leave()
    }

    private func attributeNames(_ node: ASN1Node, _ identifier: ASN1Identifier) throws -> [String] {
        try node.children(expecting: identifier).map { try Attribute(berEncoded: $0).type.displayName }
    }

    private mutating func attributes(_ reader: BERReader, _ identifier: ASN1Identifier) throws -> [String] {
        guard try reader.peek()?.identifier == identifier else { return [] }
        let node = try element(reader)
        return try parsing(.cms) { try attributeNames(node, identifier) }
    }

    private func name(_ node: ASN1Node) throws -> String { try AlgorithmIdentifier(berEncoded: node).displayName }

    /// Reads and parses the next element, whose size counts toward the limit.
    private mutating func element(_ reader: BERReader) throws -> ASN1Node {
        let bytes = try reader.readElement()
        try spend(bytes.count)
        return try parsing(.cms) { try ASN1Node.read(bytes) }
    }

    private mutating func spend(_ bytes: Int) throws {
        count += bytes
        guard count <= limit else { throw CMSError.limitExceeded("\(limit) bytes outside the content") }
    }
}
