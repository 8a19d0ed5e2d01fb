import PKIX

extension SignedCases {
    /// Signed and unsigned attributes that are missing, duplicated or wrong.
    static let attributes = [
        HostileCase("sig-no-content-type", .reject(1, ["content-type-attribute"])) {
            try detached { $0.signers[0].signedAttributes = { [Attributes.digest($0), Attributes.time()] } }
        },
        HostileCase("sig-wrong-content-type", .reject(1, ["content-type-attribute"])) {
            try detached {
                $0.signers[0].signedAttributes = { [Attributes.contentType(OID.signedData), Attributes.digest($0)] }
            }
        },
        HostileCase("sig-content-type-twice", .reject(1, ["content-type-attribute"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.contentType(OID.signedData), Attributes.digest($0)]
                }
            }
        },
        HostileCase("sig-content-type-two-values", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [
                        Attributes.make(OID.contentType, TLV.oid(OID.data), TLV.oid(OID.signedData)),
                        Attributes.digest($0),
                    ]
                }
            }
        },
        HostileCase("sig-content-type-empty", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = { [Attributes.make(OID.contentType), Attributes.digest($0)] }
            }
        },
        HostileCase("sig-no-message-digest", .reject(1, ["message-digest-attribute"])) {
            try detached { $0.signers[0].signedAttributes = { _ in [Attributes.contentType(), Attributes.time()] } }
        },
        HostileCase("sig-message-digest-twice", .reject(1, ["message-digest-attribute"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [
                        Attributes.contentType(), Attributes.digest($0),
                        Attributes.digest([UInt8](repeating: 1, count: 32)),
                    ]
                }
            }
        },
        HostileCase("sig-message-digest-two-values", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.make(OID.messageDigest, TLV.octets($0), TLV.octets([1]))]
                }
            }
        },
        HostileCase("sig-message-digest-same-twice", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.digest($0), Attributes.digest($0)]
                }
            }
        },
        HostileCase("sig-message-digest-wrong", .reject(1, ["content-changed"])) {
            try detached {
                $0.signers[0].signedAttributes = { _ in Attributes.usual([UInt8](repeating: 1, count: 32)) }
            }
        },
        HostileCase("sig-message-digest-short", .reject(1)) {
            try detached { $0.signers[0].signedAttributes = { Attributes.usual(Array($0.prefix(4))) } }
        },
        HostileCase("sig-message-digest-empty", .reject(1)) {
            try detached { $0.signers[0].signedAttributes = { _ in Attributes.usual([]) } }
        },
        HostileCase("sig-message-digest-no-octets", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.make(OID.messageDigest, TLV.bits($0))]
                }
            }
        },
        HostileCase("sig-capabilities-twice", .reject(1, ["attribute-doubled"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    Attributes.usual($0) + [Attributes.make(OID.smimeCapabilities, TLV.sequence())]
                }
            }
        },
        HostileCase("sig-capabilities-two-values", .reject(1, ["attribute-doubled"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [
                        Attributes.contentType(), Attributes.digest($0),
                        Attributes.make(OID.smimeCapabilities, TLV.sequence(), TLV.sequence()),
                    ]
                }
            }
        },
        HostileCase("sig-signing-time-twice", .reject(1, ["attribute-doubled"])) {
            try detached {
                $0.signers[0].signedAttributes = { Attributes.usual($0) + [Attributes.time("200101000000Z")] }
            }
        },
        HostileCase("sig-signing-certificate-other", .reject(1, ["signer-certificate-mismatch"])) {
            try detached {
                let other = try Person.bob.get().certificate
                $0.signers[0].signedAttributes = { try Attributes.usual($0) + [Attributes.signingCertificate(other)] }
            }
        },
        HostileCase("sig-certificate-substituted", .reject(1, ["signer-certificate-mismatch"])) {
            // Two certificates with the same key and name: the signature is bound to the one that is missing.
            let (key, authority) = (try Person.bob.get().key, try Authority.trusted.get())
            let own = try CertificateForge(key).signed(by: authority)
            let person = try CertificateForge(key).person(key, below: authority)
            return try detached(by: .success(person)) {
                $0.signers[0].useKeyIdentifier()
                $0.signers[0].signedAttributes = { try Attributes.usual($0) + [Attributes.signingCertificate(own)] }
            }
        },
        HostileCase("sig-signing-certificate-right", .accept) {
            try detached {
                let own = try Person.alice.get().certificate
                $0.signers[0].signedAttributes = { try Attributes.usual($0) + [Attributes.signingCertificate(own)] }
            }
        },
        HostileCase("sig-signing-certificate-with-name", .accept) {
            try detached {
                let own = try Certificate(der: Person.alice.get().certificate)
                let attribute = try Attributes.signingCertificate(own.der, name: (own.issuer.der, own.serialNumber))
                $0.signers[0].signedAttributes = { Attributes.usual($0) + [attribute] }
            }
        },
        HostileCase("sig-signing-certificate-other-serial", .reject(1, ["signer-certificate-mismatch"])) {
            try detached {
                let own = try Certificate(der: Person.alice.get().certificate)
                let attribute = try Attributes.signingCertificate(own.der, name: (own.issuer.der, [0x2A]))
                $0.signers[0].signedAttributes = { Attributes.usual($0) + [attribute] }
            }
        },
        HostileCase("sig-signing-certificate-other-issuer", .reject(1, ["signer-certificate-mismatch"])) {
            try detached {
                let own = try Certificate(der: Person.alice.get().certificate)
                let name = (Name.common("Somebody else"), own.serialNumber)
                let attribute = try Attributes.signingCertificate(own.der, name: name)
                $0.signers[0].signedAttributes = { Attributes.usual($0) + [attribute] }
            }
        },
        HostileCase("sig-signing-certificate-malformed", .reject(1)) {
            try detached {
                $0.signers[0].signedAttributes = {
                    Attributes.usual($0) + [Attributes.make(OID.signingCertificateV2, TLV.octets([1]))]
                }
            }
        },
        HostileCase("sig-time-future", .warn(["signing-time-future"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.digest($0), Attributes.time("301101000000Z")]
                }
            }
        },
        HostileCase("sig-time-far-from-date", .warn(["signing-time-far"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [Attributes.contentType(), Attributes.digest($0), Attributes.time("260301000000Z")]
                }
            }
        },
        HostileCase("sig-time-far-before-date", .warn) {
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            forge.signers[0].signedAttributes = { Attributes.usual($0) }
            var mail = MailForge()
            mail.header[3] = "Date: Sun, 01 Feb 2026 00:00:00 +0000"
            return mail.signed(MailForge.text, signature: try forge.encoded())
        },
        HostileCase("sig-time-before-certificate", .warn(["signing-time-far"])) {
            var forge = SignedForge(MailForge.text, by: try Person.alice.get())
            forge.signers[0].signedAttributes = {
                [Attributes.contentType(), Attributes.digest($0), Attributes.time("100101000000Z")]
            }
            var mail = MailForge()
            mail.header[3] = "Date: Fri, 01 Jan 2010 00:00:00 +0000"
            return mail.signed(MailForge.text, signature: try forge.encoded())
        },
        HostileCase("sig-time-unreadable", .reject(1, ["signing-time-malformed"])) {
            try detached {
                $0.signers[0].signedAttributes = {
                    [
                        Attributes.contentType(), Attributes.digest($0),
                        Attributes.make(OID.signingTime, TLV.utf8("today")),
                    ]
                }
            }
        },
        HostileCase("sig-unsigned-signing-time", .warn(["attribute-unsigned"])) {
            try detached { $0.signers[0].unsignedAttributes = [Attributes.time("200101000000Z")] }
        },
        HostileCase("sig-unsigned-capabilities", .warn(["attribute-unsigned"])) {
            try detached { $0.signers[0].unsignedAttributes = [Attributes.capabilities] }
        },
        HostileCase("sig-unsigned-message-digest", .warn(["attribute-unsigned"])) {
            try detached { $0.signers[0].unsignedAttributes = [Attributes.digest([1])] }
        },
        HostileCase("sig-unsigned-signing-certificate", .warn(["attribute-unsigned"])) {
            try detached {
                $0.signers[0].unsignedAttributes = [try Attributes.signingCertificate(Person.bob.get().certificate)]
            }
        },
        HostileCase("sig-attributes-as-content", .warn) {
            let attributes = try TLV.sortedSet(Attributes.usual(Attacker.digest(MailForge.text, "SHA256")))
            return try opaque(attributes) { $0.signers[0].signedAttributes = nil }
        },
        HostileCase("sig-attributes-as-detached-content", .reject) {
            let attributes = try TLV.sortedSet(Attributes.usual(Attacker.digest(MailForge.text, "SHA256")))
            return try detached(attributes) { $0.signers[0].signedAttributes = nil }
        },
    ]
}
