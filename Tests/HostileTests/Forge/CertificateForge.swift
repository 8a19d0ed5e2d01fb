import Foundation

/// An authority that signs anything.
struct Authority: Sendable {
    let name: [UInt8]
    let key: AttackerKey
    /// The certificates that a message must include so that the chain can be built.
    let chain: [[UInt8]]

    /// The intermediate authority in `certs/`, whose root the tests trust.
    static let trusted = Result {
        let file = try PEMFile.blocks("ca/chain.pem")
        return Authority(
            name: CertificateFields(try PEMFile.blocks("ca/intermediate.pem")[0]).subject,
            key: try AttackerKey("ca/intermediate-key.pem"),
            chain: file
        )
    }
    /// An untrusted root.
    static let untrusted = Result {
        let root = try PEMFile.blocks("untrusted/root.pem")[0]
        return Authority(
            name: CertificateFields(root).subject,
            key: try AttackerKey("untrusted/root-key.pem"),
            chain: [root]
        )
    }
}

/// A certificate in preparation: every field can be changed before it is signed.
struct CertificateForge {
    var subject = Name.common("Forged")
    var serial = Int.random(in: 1 << 40..<1 << 50)
    var notBefore = "20260101000000Z"
    var notAfter = "21251231235959Z"
    var publicKey: [UInt8]
    var basicConstraints: [UInt8]? = Extension.basicConstraints(isAuthority: false)
    var keyUsage: [UInt8]? = Extension.keyUsage([0, 2])
    var extendedKeyUsage: [UInt8]? = Extension.extendedKeyUsage([OID.emailProtection])
    var names: [[UInt8]]
    var others: [[UInt8]] = []

    init(_ key: AttackerKey, names: [[UInt8]] = [Name.mailbox("alice@example.com")]) {
        publicKey = key.publicKeyInfo
        self.names = names
    }

    /// The certificate signed by `authority`; by default with the key identifier of its key.
    func signed(by authority: Authority, ownIdentifier: Bool = true) throws -> [UInt8] {
        let alternative = names.isEmpty ? nil : Extension.make("2.5.29.17", TLV.sequence(names.flatMap { $0 }))
        let identifier = Extension.make("2.5.29.14", TLV.octets(try Attacker.digest(publicKey, "SHA1")))
        let usual = [basicConstraints, keyUsage, extendedKeyUsage, alternative, ownIdentifier ? identifier : nil]
        let all = usual.compactMap(\.self) + others
        let algorithm = TLV.sequence(TLV.oid(OID.sha256WithRSA), TLV.null)
        let body = TLV.sequence(
            TLV.explicit(0, TLV.integer(2)),
            TLV.integer(serial),
            algorithm,
            authority.name,
            TLV.sequence(TLV.time(notBefore), TLV.time(notAfter)),
            subject,
            publicKey,
            TLV.explicit(3, TLV.sequence(all.flatMap { $0 }))
        )
        return TLV.sequence(body, algorithm, TLV.bits(try authority.key.sign(body, padding: .pkcs1)))
    }

    /// A person with this certificate.
    func person(_ key: AttackerKey, below authority: Authority) throws -> Person {
        Person(certificate: try signed(by: authority), chain: authority.chain, key: key)
    }
}

/// Distinguished and general names.
enum Name {
    static func common(_ text: String) -> [UInt8] { rdns([("2.5.4.3", TLV.utf8(text))]) }

    /// A name that contains the address in the DN.
    static func withAddress(_ text: String, commonName: String = "Forged") -> [UInt8] {
        rdns([("2.5.4.3", TLV.utf8(commonName)), ("1.2.840.113549.1.9.1", TLV.ia5(text))])
    }

    static func rdns(_ parts: [(oid: String, value: [UInt8])]) -> [UInt8] {
        TLV.sequence(parts.flatMap { TLV.set([TLV.sequence(TLV.oid($0.oid), $0.value)]) })
    }

    static func mailbox(_ text: String) -> [UInt8] { TLV.element(0x81, Array(text.utf8)) }
    static func mailbox(_ bytes: [UInt8]) -> [UInt8] { TLV.element(0x81, bytes) }
    static func host(_ text: String) -> [UInt8] { TLV.element(0x82, Array(text.utf8)) }
    static func uri(_ text: String) -> [UInt8] { TLV.element(0x86, Array(text.utf8)) }
    static func smtpUTF8(_ text: String, of tag: UInt8 = 0x0C) -> [UInt8] {
        TLV.element(0xA0, TLV.oid(OID.smtpUTF8Mailbox), TLV.explicit(0, TLV.element(tag, Array(text.utf8))))
    }
}

/// Certificate extensions.
enum Extension {
    static func make(_ oid: String, isCritical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        TLV.sequence(TLV.oid(oid), isCritical ? TLV.yes : [], TLV.octets(value))
    }

    static func basicConstraints(isAuthority: Bool, pathLength: Int? = nil) -> [UInt8] {
        let length = pathLength.map { TLV.integer($0) } ?? []
        return make("2.5.29.19", isCritical: true, TLV.sequence(isAuthority ? TLV.yes : [], length))
    }

    /// `bits` are numbered as in RFC 5280 §4.2.1.3.
    static func keyUsage(_ bits: [Int]) -> [UInt8] {
        let octet = bits.reduce(UInt8(0)) { $0 | (0x80 >> UInt8($1)) }
        return make("2.5.29.15", isCritical: true, TLV.element(0x03, [UInt8(octet.trailingZeroBitCount), octet]))
    }

    static func extendedKeyUsage(_ purposes: [String]) -> [UInt8] {
        make("2.5.29.37", TLV.sequence(purposes.flatMap { TLV.oid($0) }))
    }
}
