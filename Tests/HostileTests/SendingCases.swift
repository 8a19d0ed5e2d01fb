import Foundation

/// Sending: certificates that must not be used for encryption, whatever they claim.
enum SendingCases {
    /// A certificate that a user added for `address`.
    struct Lie: Sendable, CustomStringConvertible {
        let name: String
        /// The required explanation.
        let why: String
        var address = "bob@example.com"
        let make: @Sendable () throws -> [[UInt8]]

        init(
            _ name: String,
            why: String,
            address: String = "bob@example.com",
            _ make: @escaping @Sendable () throws -> [[UInt8]]
        ) {
            (self.name, self.why, self.address, self.make) = (name, why, address, make)
        }

        var description: String { name }
    }

    /// A certificate for Bob's address and key, by default issued by the trusted authority.
    private static func bob(
        below authority: Result<Authority, any Error> = Authority.trusted,
        key: String = "bob",
        _ change: (inout CertificateForge) -> Void = { _ in }
    ) throws -> [[UInt8]] {
        var forge = CertificateForge(try Person(key).key, names: [Name.mailbox("bob@example.com")])
        change(&forge)
        return [try forge.signed(by: authority.get())] + (try authority.get().chain)
    }

    /// Counter-check: a certificate that is accepted.
    static func sound() throws -> [[UInt8]] { try bob() }

    static let lies = [
        Lie("untrusted", why: "no trust anchor") { try bob(below: Authority.untrusted) },
        Lie("expired", why: "expired") {
            try bob { ($0.notBefore, $0.notAfter) = ("20200101000000Z", "20201231235959Z") }
        },
        Lie("not yet valid", why: "not valid yet") { try bob { $0.notBefore = "21000101000000Z" } },
        Lie("for signing", why: "does not allow encryption") { try bob { $0.keyUsage = Extension.keyUsage([0]) } },
        Lie("for servers", why: "does not allow encryption") {
            try bob { $0.extendedKeyUsage = Extension.extendedKeyUsage(["1.3.6.1.5.5.7.3.1"]) }
        },
        Lie("unknown critical extension", why: "no trust anchor") {
            try bob { $0.others = [Extension.make("1.2.3.4.5", isCritical: true, TLV.null)] }
        },
        Lie("weak key", why: "too short") { try bob(key: "weak") },
        Lie("an authority's", why: "none is known") {
            try bob { $0.basicConstraints = Extension.basicConstraints(isAuthority: true) }
        },
        Lie("another address", why: "none is known") { try bob { $0.names = [Name.mailbox("mallory@example.com")] } },
        Lie("address only in the CN", why: "none is known") {
            try bob {
                $0.names = []
                $0.subject = Name.common("bob@example.com")
            }
        },
        Lie("a wildcard", why: "none is known") { try bob { $0.names = [Name.mailbox("*@example.com")] } },
        Lie("a host name", why: "none is known") { try bob { $0.names = [Name.host("bob@example.com")] } },
        Lie("NUL in the address", why: "none is known") {
            try bob { $0.names = [Name.mailbox("bob@example.com\0.evil.test")] }
        },
        Lie("a line break in the address", why: "none is known") {
            try bob { $0.names = [Name.mailbox("bob@example.com\r\nBcc: mallory@example.com")] }
        },
        Lie("a look-alike", why: "none is known") { try bob { $0.names = [Name.smtpUTF8("b\u{43E}b@example.com")] } },
        Lie("issued by a leaf", why: "no trust anchor") {
            let alice = try Person.alice.get()
            let leaf = Authority(
                name: CertificateFields(alice.certificate).subject,
                key: alice.key,
                chain: [alice.certificate] + alice.chain
            )
            return try bob(below: .success(leaf))
        },
        Lie("the signature of its issuer is wrong", why: "no trust anchor") {
            var certificates = try bob()
            certificates[0][certificates[0].count - 1] ^= 1
            return certificates
        },
        Lie("revoked", why: "revoked", address: "revoked@example.com") {
            let person = try Person("revoked")
            return [person.certificate] + person.chain
        },
    ]
}
