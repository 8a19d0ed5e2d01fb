import Foundation

/// Learning certificates: a sequence of mails that a user reads, and the certificates in the registry afterwards.
enum LearningCases {
    struct Case: Sendable, CustomStringConvertible {
        let name: String
        /// The names of all known certificates; the one used for encryption is followed by a star.
        let known: [String]
        /// Required text on standard error for the last mail.
        var says: String?
        var options: [String] = []
        let mails: @Sendable () throws -> [[UInt8]]

        init(
            _ name: String,
            knows known: [String],
            says: String? = nil,
            options: [String] = [],
            _ mails: @escaping @Sendable () throws -> [[UInt8]]
        ) {
            (self.name, self.known, self.says, self.options, self.mails) = (name, known, says, options, mails)
        }

        var description: String { name }
    }

    /// The certificates of the people. The first is in `certs/`, the others are issued by the trusted authority.
    static let people: [String: Result<Person, any Error>] = [
        "bob": Person.bob,
        "carol": Person.carol,
        // Bob's certificate for a new key.
        "bob-new": make("bob@example.com", key: "alice") { $0.notBefore = "20260601000000Z" },
        // A certificate for Bob's address that another person obtained.
        "bob-stolen": make("bob@example.com", key: "mallory") { $0.notBefore = "20260701000000Z" },
        "bob-expired": make("bob@example.com", key: "bob") {
            ($0.notBefore, $0.notAfter) = ("20250101000000Z", "20260201000000Z")
        },
        "bob-weak": make("bob@example.com", key: "weak") { $0.notBefore = "20260701000000Z" },
        "bob-signing": make("bob@example.com", key: "bob") {
            $0.notBefore = "20260701000000Z"
            $0.keyUsage = Extension.keyUsage([0])
        },
        "bob-authority": make("bob@example.com", key: "bob") {
            $0.notBefore = "20260701000000Z"
            $0.basicConstraints = Extension.basicConstraints(isAuthority: true)
        },
        "list": make("list@example.com", key: "mallory"),
        "revoked": Result { try Person("revoked") },
    ]

    private static func make(
        _ address: String,
        key: String,
        _ change: @escaping (inout CertificateForge) -> Void = { _ in }
    ) -> Result<Person, any Error> {
        Result {
            let key = try Person(key).key
            var forge = CertificateForge(key, names: [Name.mailbox(address)])
            change(&forge)
            return try forge.person(key, below: Authority.trusted.get())
        }
    }

    private static func person(_ name: String) throws -> Person {
        guard let person = people[name] else { throw CocoaError(.fileNoSuchFile) }
        return try person.get()
    }

    /// A mail signed by `name`, by default from Bob.
    private static func signed(
        by name: String,
        _ entity: [UInt8] = MailForge.text,
        fields: [String] = ["From: bob@example.com"],
        boundary: String = "bnd",
        _ change: (inout SignedForge) throws -> Void = { _ in }
    ) throws -> [UInt8] {
        var forge = SignedForge(entity, by: try person(name))
        try change(&forge)
        var mail = MailForge()
        mail.header.replaceSubrange(0...0, with: fields)
        var shape = SignedShape()
        shape.boundary = boundary
        return mail.signed(entity, signature: try forge.encoded(), shape)
    }

    /// A mail from Bob whose SignedData contains the certificate of `name`, and prefers it by an attribute.
    private static func preferring(_ name: String, isSigned: Bool = true) throws -> [UInt8] {
        let other = try person(name)
        let value = TLV.element(0xA0, TLV.contents(other.issuerAndSerial))
        let preference = Attributes.make(OID.encryptionKeyPreference, value)
        return try signed(by: "bob") {
            $0.certificates.append(other.certificate)
            if isSigned {
                $0.signers[0].signedAttributes = { Attributes.usual($0) + [preference] }
            } else {
                $0.signers[0].unsignedAttributes = [preference]
            }
        }
    }

    private static func time(_ digits: String, _ forge: inout SignedForge, _ others: [[UInt8]] = []) {
        forge.signers[0].signedAttributes = {
            [Attributes.contentType(), Attributes.digest($0), Attributes.time(digits)] + others
        }
    }

    static let all = planted + timed + changed + others

    private static let planted = [
        Case("own certificate", knows: ["bob*"]) { [try signed(by: "bob")] },
        Case("signer of another address", knows: []) { [try signed(by: "carol")] },
        Case("another certificate in the bag", knows: ["bob*"]) {
            [try signed(by: "bob") { $0.certificates.append(try person("carol").certificate) }]
        },
        Case("a certificate for the sender in the bag, of another key", knows: ["bob*"]) {
            [try signed(by: "bob") { $0.certificates.insert(try person("bob-stolen").certificate, at: 0) }]
        },
        Case("signed by a revoked certificate, the list inside", knows: []) {
            let list = try PEMFile.blocks("revoked/crl.pem")[0]
            return [try signed(by: "revoked", fields: ["From: revoked@example.com"]) { $0.lists = [list] }]
        },
        Case("300 certificates in the bag", knows: ["bob*"]) {
            let key = try person("carol").key
            let crowd = try (0..<300).map {
                try CertificateForge(key, names: [Name.mailbox("p\($0)@example.com")]).signed(
                    by: Authority.trusted.get()
                )
            }
            return [try signed(by: "bob") { $0.certificates += crowd }]
        },
        Case("a preferred certificate of one's own", knows: ["bob", "bob-new*"]) { [try preferring("bob-new")] },
        Case("a preferred certificate of another person", knows: ["bob*"]) { [try preferring("carol")] },
        Case("a preferred certificate that is weak", knows: ["bob*"]) { [try preferring("bob-weak")] },
        Case("a preferred certificate for signing", knows: ["bob*"]) { [try preferring("bob-signing")] },
        Case("a preferred certificate that is expired", knows: ["bob*"]) { [try preferring("bob-expired")] },
        Case("a preferred certificate of an authority", knows: ["bob*"]) { [try preferring("bob-authority")] },
        Case("an unsigned preference", knows: ["bob*"]) { [try preferring("bob-stolen", isSigned: false)] },
    ]

    private static let timed = [
        Case("signed in the future", knows: ["bob*"]) { [try signed(by: "bob") { time("20990101000000Z", &$0) }] },
        Case("what was signed in the future does not stay in front", knows: ["bob", "bob-new*"]) {
            [try signed(by: "bob") { time("20990101000000Z", &$0) }, try signed(by: "bob-new")]
        },
        Case("signed before the certificate was valid", knows: ["bob*"]) {
            [try signed(by: "bob") { time("200101000000Z", &$0) }]
        },
        Case("an old mail once more brings no old certificate forward", knows: ["bob", "bob-new*"]) {
            let old = try signed(by: "bob") { time("260201000000Z", &$0) }
            return [old, try signed(by: "bob-new"), old, old]
        },
        Case("an old certificate with a new signing time", knows: ["bob", "bob-new*"]) {
            [try signed(by: "bob-new"), try signed(by: "bob") { time("261120000000Z", &$0) }]
        },
        Case("an expired certificate", knows: ["bob*"]) {
            [try signed(by: "bob"), try signed(by: "bob-expired") { time("260115000000Z", &$0) }]
        },
    ]

    private static let changed = [
        Case("another key is used, and told", knows: ["bob", "bob-new*"], says: "changed certificate") {
            [try signed(by: "bob"), try signed(by: "bob-new")]
        },
        Case(
            "another key is held back",
            knows: ["bob*", "bob-new"],
            says: "to use it after",
            options: ["--on-change", "hold"]
        ) {
            [try signed(by: "bob"), try signed(by: "bob-new")]
        },
        Case("a key by another authority is told", knows: ["bob", "bob-stolen*"], says: "changed certificate") {
            [try signed(by: "bob"), try signed(by: "bob-stolen")]
        },
    ]

    private static let others = [
        Case("resent by another person, by way of a list", knows: ["bob*"]) {
            let fields = [
                "Resent-From: carol@example.com", "List-Id: <list.example.com>", "From: bob@example.com",
                "Reply-To: list@example.com",
            ]
            return [try signed(by: "bob", fields: fields)]
        },
        Case("signed by the Sender", knows: []) {
            [try signed(by: "list", fields: ["From: bob@example.com", "Sender: list@example.com"])]
        },
        Case("signed by the one who resent it", knows: []) {
            [try signed(by: "carol", fields: ["From: bob@example.com", "Resent-From: carol@example.com"])]
        },
        Case("signed inside by the author, and around it by a list", knows: []) {
            var shape = SignedShape()
            shape.boundary = "inner"
            let inner = shape.entity(
                MailForge.text,
                signature: try SignedForge(MailForge.text, by: person("bob")).encoded()
            )
            return [try signed(by: "list", inner)]
        },
        Case("another person's signed mail inside", knows: ["bob*"]) {
            let inner = try signed(by: "carol", fields: ["From: carol@example.com"], boundary: "inner")
            return [try signed(by: "bob", Array("Content-Type: message/rfc822\r\n\r\n".utf8) + inner)]
        },
        Case("a signed mail forwarded by an unknown person", knows: []) {
            let inner = Array("Content-Type: message/rfc822\r\n\r\n".utf8) + (try signed(by: "bob"))
            return [MailForge(from: "bob@example.com").mail(Multipart.entity("mixed", MailForge.text, inner))]
        },
        Case("two authors", knows: []) {
            [try signed(by: "bob", fields: ["From: carol@example.com, bob@example.com"])]
        },
        Case("a name that is another person's address", knows: []) {
            [try signed(by: "bob", fields: ["From: \"carol@example.com\" <bob@example.com>"])]
        },
    ]
}
