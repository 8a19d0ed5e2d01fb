import Foundation

/// Cases about chains and validity periods.
enum ChainCases {
    static let all = refused + doubtful + harmless + reencoded + chosen

    /// A mail from alice, signed with bob's key and a certificate modified by `change`.
    static func leaf(
        below authority: Result<Authority, any Error> = Authority.trusted,
        from: String = "alice@example.com",
        lists: [[UInt8]] = [],
        _ change: (inout CertificateForge) -> Void = { _ in }
    ) throws -> [UInt8] {
        let key = try Person.bob.get().key
        var forge = CertificateForge(key)
        change(&forge)
        let person = try forge.person(key, below: authority.get())
        return try SignedCases.detached(by: .success(person), from: from) { $0.lists = lists }
    }

    /// An authority below the trusted one, with carol's key, modified by `change`.
    static func authority(
        _ name: String = "Forged CA",
        below parent: Result<Authority, any Error> = Authority.trusted,
        _ change: (inout CertificateForge) -> Void = { _ in }
    ) -> Result<Authority, any Error> {
        Result {
            let key = try Person("no-usages").key
            var forge = CertificateForge(key, names: [])
            forge.subject = Name.common(name)
            forge.basicConstraints = Extension.basicConstraints(isAuthority: true)
            forge.keyUsage = Extension.keyUsage([5, 6])
            forge.extendedKeyUsage = nil
            change(&forge)
            let certificate = try forge.signed(by: parent.get())
            return Authority(name: forge.subject, key: key, chain: [certificate] + (try parent.get().chain))
        }
    }

    static func constrained(permitted: [[UInt8]] = [], excluded: [[UInt8]] = []) -> Result<Authority, any Error> {
        func trees(_ names: [[UInt8]], _ tag: UInt8) -> [UInt8] {
            names.isEmpty ? [] : TLV.element(tag, names.flatMap { TLV.sequence($0) })
        }
        let value = TLV.sequence(trees(permitted, 0xA0), trees(excluded, 0xA1))
        return authority { $0.others = [Extension.make("2.5.29.30", isCritical: true, value)] }
    }

    private static let refused = [
        HostileCase("chain-not-yet-valid", .reject(1)) { try leaf { $0.notBefore = "21000101000000Z" } },
        HostileCase("chain-expired", .reject(1)) {
            try leaf {
                $0.notBefore = "20200101000000Z"
                $0.notAfter = "20201231235959Z"
            }
        },
        HostileCase("chain-expired-signed-earlier", .reject(1)) {
            let key = try Person.bob.get().key
            var forge = CertificateForge(key)
            (forge.notBefore, forge.notAfter) = ("20200101000000Z", "20201231235959Z")
            let person = try forge.person(key, below: Authority.trusted.get())
            return try SignedCases.detached(by: .success(person)) {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.digest($0), Attributes.time("200601000000Z")]
                }
            }
        },
        HostileCase("chain-revoked-by-list-inside", .reject(1)) {
            let person = try Person("revoked")
            let list = try PEMFile.blocks("revoked/crl.pem")[0]
            return try SignedCases.detached(by: .success(person), from: "revoked@example.com") { $0.lists = [list] }
        },
        HostileCase("chain-server-certificate", .reject(1)) {
            try leaf { $0.extendedKeyUsage = Extension.extendedKeyUsage(["1.3.6.1.5.5.7.3.1"]) }
        },
        HostileCase("chain-client-certificate", .reject(1)) {
            try leaf { $0.extendedKeyUsage = Extension.extendedKeyUsage(["1.3.6.1.5.5.7.3.2"]) }
        },
        HostileCase("chain-authority-for-servers", .reject(1)) {
            try leaf(below: authority { $0.extendedKeyUsage = Extension.extendedKeyUsage(["1.3.6.1.5.5.7.3.1"]) })
        },
        HostileCase("chain-usage-without-signing", .reject(1)) { try leaf { $0.keyUsage = Extension.keyUsage([2]) } },
        HostileCase("chain-usage-certificate-signing", .reject(1)) {
            try leaf { $0.keyUsage = Extension.keyUsage([5]) }
        },
        HostileCase("chain-ca-as-signer", .reject(1)) {
            try leaf {
                $0.basicConstraints = Extension.basicConstraints(isAuthority: true)
                $0.keyUsage = Extension.keyUsage([0, 5])
            }
        },
        HostileCase("chain-untrusted-root", .reject(1)) { try leaf(below: Authority.untrusted) },
        HostileCase("chain-self-signed", .reject(1)) {
            let key = try Person.bob.get().key
            return try leaf(below: .success(Authority(name: Name.common("Forged"), key: key, chain: [])))
        },
        HostileCase("chain-named-like-the-trusted", .reject(1)) {
            let trusted = try Authority.trusted.get()
            return try leaf(
                below: .success(Authority(name: trusted.name, key: try Person.carol.get().key, chain: trusted.chain))
            ) { _ in }
        },
        HostileCase("chain-rfc822-constraint", .reject(1)) {
            try leaf(below: constrained(permitted: [Name.mailbox("example.org")]))
        },
        HostileCase("chain-rfc822-excluded", .reject(1)) {
            try leaf(below: constrained(excluded: [Name.mailbox("example.com")]))
        },
        HostileCase("chain-rfc822-excluded-mailbox", .reject(1)) {
            try leaf(below: constrained(excluded: [Name.mailbox("alice@example.com")]))
        },
        HostileCase("chain-constraint-on-dn-address", .reject(1)) {
            try leaf(below: constrained(permitted: [Name.mailbox("example.org")])) {
                $0.names = []
                $0.subject = Name.withAddress("alice@example.com")
            }
        },
        HostileCase("chain-constraint-on-smtp-utf8", .reject(1)) {
            try leaf(below: constrained(permitted: [Name.mailbox("example.org")]), from: "пётр@example.com") {
                $0.names = [Name.smtpUTF8("пётр@example.com")]
            }
        },
        HostileCase("chain-constraint-on-directory-name", .reject(1)) {
            try leaf(below: constrained(permitted: [TLV.element(0xA4, Name.common("Somebody"))]))
        },
        HostileCase("chain-expired-authority", .reject(1)) {
            try leaf(
                below: authority {
                    $0.notBefore = "20200101000000Z"
                    $0.notAfter = "20201231235959Z"
                }
            )
        },
        HostileCase("chain-leaf-as-authority", .reject(1)) {
            try leaf(below: authority { $0.basicConstraints = Extension.basicConstraints(isAuthority: false) })
        },
        HostileCase("chain-authority-without-basic-constraints", .reject(1)) {
            try leaf(below: authority { $0.basicConstraints = nil })
        },
        HostileCase("chain-authority-may-not-sign", .reject(1)) {
            try leaf(below: authority { $0.keyUsage = Extension.keyUsage([0]) })
        },
        HostileCase("chain-path-length", .reject(1)) {
            let upper = authority("Upper CA") {
                $0.basicConstraints = Extension.basicConstraints(isAuthority: true, pathLength: 0)
            }
            return try leaf(below: authority("Lower CA", below: upper))
        },
        HostileCase("chain-unknown-critical", .reject(1)) {
            try leaf { $0.others = [Extension.make("1.2.3.4.5", isCritical: true, TLV.null)] }
        },
        HostileCase("chain-unknown-critical-in-authority", .reject(1)) {
            try leaf(below: authority { $0.others = [Extension.make("1.2.3.4.5", isCritical: true, TLV.null)] })
        },
        HostileCase("chain-signature-of-authority-wrong", .reject(1)) {
            let trusted = try Authority.trusted.get()
            return try leaf(
                below: .success(Authority(name: trusted.name, key: try Person.alice.get().key, chain: trusted.chain))
            )
        },
        HostileCase("chain-cycle", .reject(1)) {
            let (a, b) = (try Person.carol.get().key, try Person("no-usages").key)
            var first = CertificateForge(b, names: [])
            first.basicConstraints = Extension.basicConstraints(isAuthority: true)
            first.keyUsage = Extension.keyUsage([5])
            var second = first
            (first.subject, second.subject) = (Name.common("A"), Name.common("B"))
            first.publicKey = try Person("p384").key.publicKeyInfo
            second.publicKey = b.publicKeyInfo
            let one = try first.signed(by: Authority(name: Name.common("B"), key: b, chain: []))
            let rsa = try Person.alice.get().key
            first.publicKey = rsa.publicKeyInfo
            let two = try second.signed(by: Authority(name: Name.common("A"), key: rsa, chain: []))
            let three = try first.signed(by: Authority(name: Name.common("B"), key: b, chain: []))
            _ = a
            return try leaf(below: .success(Authority(name: Name.common("A"), key: rsa, chain: [one, two, three])))
        },
        HostileCase("chain-md5-below", .reject(1)) {
            // The leaf is valid except that its validity ends before it begins.
            try leaf {
                $0.notBefore = "20270101000000Z"
                $0.notAfter = "20260101000000Z"
            }
        },
    ]

    private static let doubtful = [
        HostileCase("chain-weak-leaf", .reject(1, ["weak-key"])) {
            try SignedCases.detached(by: Result { try Person("weak") }, from: "weak@example.com")
        }
    ]

    private static let harmless = [
        HostileCase("chain-plain", .accept) { try leaf() },
        HostileCase("chain-no-extended-usage", .accept) { try leaf { $0.extendedKeyUsage = nil } },
        HostileCase("chain-any-extended-usage", .accept) {
            try leaf { $0.extendedKeyUsage = Extension.extendedKeyUsage(["2.5.29.37.0"]) }
        },
        HostileCase("chain-no-usage", .accept) { try leaf { $0.keyUsage = nil } },
        HostileCase("chain-non-repudiation-alone", .accept) { try leaf { $0.keyUsage = Extension.keyUsage([1]) } },
        HostileCase("chain-digital-signature-alone", .accept) { try leaf { $0.keyUsage = Extension.keyUsage([0]) } },
        HostileCase("chain-no-basic-constraints", .accept) { try leaf { $0.basicConstraints = nil } },
        HostileCase("chain-one-more-authority", .accept) { try leaf(below: authority()) },
        HostileCase("chain-permitted", .accept) {
            try leaf(below: constrained(permitted: [Name.mailbox("example.com")]))
        },
        HostileCase("chain-permitted-among-others", .accept) {
            try leaf(below: constrained(permitted: [Name.mailbox("example.org"), Name.mailbox("example.com")]))
        },
        HostileCase("chain-unknown-extension", .accept) {
            try leaf { $0.others = [Extension.make("1.2.3.4.5", TLV.null)] }
        },
        HostileCase("chain-long", .accept) {
            try SignedCases.detached(by: Result { try Person("long-chain") }, from: "long-chain@example.com") {
                $0.signers[0].useECDSA()
            }
        },
        HostileCase("chain-of-60", .accept) {
            var last = Authority.trusted
            for number in 1...60 { last = authority("Authority \(number)", below: last) }
            return try leaf(below: last)
        },
        HostileCase("chain-certificates-reversed", .accept) {
            try SignedCases.detached { $0.certificates.reverse() }
        },
        HostileCase("chain-certificates-twice", .accept) {
            try SignedCases.detached { $0.certificates += $0.certificates }
        },
        HostileCase("chain-unreadable-certificate-beside", .accept) {
            try SignedCases.detached { $0.certificates.append(TLV.sequence(TLV.integer(1))) }
        },
        HostileCase("chain-300-namesakes", .accept) {
            let key = try Person("no-usages").key
            let trusted = try Authority.trusted.get()
            var decoy = CertificateForge(key, names: [])
            decoy.subject = trusted.name
            decoy.basicConstraints = Extension.basicConstraints(isAuthority: true)
            decoy.keyUsage = Extension.keyUsage([5])
            let untrusted = try Authority.untrusted.get()
            let decoys = try (0..<300).map { _ in
                decoy.serial = Int.random(in: 1 << 40..<1 << 50)
                return try decoy.signed(by: untrusted)
            }
            return try SignedCases.detached { $0.certificates = decoys + $0.certificates }
        },
    ]
}
