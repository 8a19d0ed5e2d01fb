import Foundation

/// A RecipientInfo in preparation: RSA key transport, unless a complete one is given.
struct RecipientForge {
    var version = 0
    var identifier: [UInt8]
    var algorithm = TLV.sequence(TLV.oid(OID.rsa), TLV.null)
    /// Makes the encrypted key from the content key.
    var wrap: ([UInt8]) throws -> [UInt8]

    init(_ person: Person) {
        identifier = person.issuerAndSerial
        wrap = { try person.key.encrypt($0) }
    }

    func encoded(_ key: [UInt8]) throws -> [UInt8] {
        TLV.sequence(TLV.integer(version), identifier, algorithm, TLV.octets(try wrap(key)))
    }
}

/// An EnvelopedData or AuthEnvelopedData in preparation.
struct EnvelopedForge {
    var type = OID.authEnvelopedData
    var cipher = "AES-256-GCM"
    var cipherOID = OID.aes256GCM
    var key = (0..<32).map { UInt8($0 &* 7 &+ 1) }
    var iv: [UInt8]
    var tagCount = 16
    /// The parameters of the AlgorithmIdentifier; nil uses those of the cipher.
    var parameters: [UInt8]?
    var version = 0
    var recipients: [RecipientForge]
    /// Complete RecipientInfos, written unchanged.
    var rawRecipients: [[UInt8]] = []
    var plaintext: [UInt8]
    var isPadded = true
    var authenticatedAttributes: [[UInt8]] = []
    /// Whether the tag authenticates the attributes.
    var coversAttributes = true
    var unauthenticatedAttributes: [[UInt8]] = []
    var ciphertextAfterwards: ([UInt8]) -> [UInt8] = { $0 }
    var tagAfterwards: ([UInt8]) -> [UInt8]? = { $0 }

    /// An AuthEnvelopedData with AES-256-GCM.
    init(gcm plaintext: [UInt8] = MailForge.text, to person: Person) {
        self.plaintext = plaintext
        iv = [UInt8](repeating: 9, count: 12)
        recipients = [RecipientForge(person)]
    }

    /// An EnvelopedData with AES-256-CBC.
    init(cbc plaintext: [UInt8] = MailForge.text, to person: Person) {
        self.init(gcm: plaintext, to: person)
        (type, cipher, cipherOID, tagCount) = (OID.envelopedData, "AES-256-CBC", OID.aes256CBC, 0)
        iv = [UInt8](repeating: 9, count: 16)
    }

    func encoded() throws -> [UInt8] {
        let isAuthenticated = type == OID.authEnvelopedData
        let covered = authenticatedAttributes.isEmpty || !coversAttributes ? [] : TLV.sortedSet(authenticatedAttributes)
        let (ciphertext, tag) = try Attacker.encrypt(
            plaintext,
            cipher,
            key: key,
            iv: iv,
            additional: covered,
            tagCount: tagCount,
            isPadded: isPadded
        )
        let usual = tagCount > 0 ? TLV.sequence(TLV.octets(iv), TLV.integer(tagCount)) : TLV.octets(iv)
        let infos = try recipients.map { try $0.encoded(key) } + rawRecipients
        let mac = isAuthenticated ? tagAfterwards(tag).map { TLV.octets($0) } ?? [] : []
        let authenticated =
            authenticatedAttributes.isEmpty ? [] : TLV.sortedSet(authenticatedAttributes, tag: 0xA1)
        let unauthenticated =
            unauthenticatedAttributes.isEmpty
            ? [] : TLV.sortedSet(unauthenticatedAttributes, tag: isAuthenticated ? 0xA2 : 0xA1)
        return TLV.sequence(
            TLV.oid(type),
            TLV.explicit(
                0,
                TLV.sequence(
                    TLV.integer(version),
                    TLV.set(infos),
                    TLV.sequence(
                        TLV.oid(OID.data),
                        TLV.sequence(TLV.oid(cipherOID), parameters ?? usual),
                        TLV.element(0x80, ciphertextAfterwards(ciphertext))
                    ),
                    isAuthenticated ? authenticated : [],
                    mac,
                    unauthenticated
                )
            )
        )
    }
}
