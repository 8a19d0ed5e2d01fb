import CMSSyntax
import PKIX
import SMIME
import TestSupport
import Testing

@Suite struct CipherNegotiationTests {
    private typealias Party = CipherNegotiation.Party

    private func party(_ name: String, _ ciphers: [ContentCipher]?, others: [SMIMECapability] = []) throws -> Party {
        Party(
            name: name,
            certificate: try TestIdentity("alice").certificate,
            capabilities: ciphers.map { $0.map { SMIMECapability(AlgorithmIdentifier($0.oid)) } + others }
        )
    }

    private func choose(
        _ parties: [[ContentCipher]?],
        standard: ContentCipher = .aes256GCM,
        floor: ContentCipher = .aes128CBC,
        demanded: ContentCipher? = nil
    ) throws -> CipherNegotiation {
        try CipherNegotiation(
            for: parties.enumerated().map { try party("\($0.offset)@example.com", $0.element) },
            CipherNegotiation.Preferences(demanded: demanded, standard: standard, floor: floor)
        )
    }

    @Test func `the best cipher that all announce is chosen, in any order`() throws {
        let chosen = try choose([[.aes128CBC, .aes256GCM, .aes128GCM], [.aes128GCM, .aes256CBC, .aes128CBC]])
        #expect(chosen.cipher == .aes128GCM)
        #expect(chosen.reason == .announced)
        #expect(chosen.verdicts.map { $0.ciphers.count } == [3, 3])
        #expect(try choose([[.aes256CBC], [.aes128CBC, .aes256CBC]]).cipher == .aes256CBC)
    }

    @Test func `without known capabilities the standard cipher is used`() throws {
        for standard in [ContentCipher.aes256GCM, .aes256CBC] {
            let chosen = try choose([nil, nil], standard: standard)
            #expect(chosen.cipher == standard)
            #expect(chosen.reason == .standard)
            #expect(chosen.recipients.allSatisfy { $0.rsaWrapping == (standard == .aes256GCM ? .oaep : .pkcs1) })
            #expect(chosen.warnings == [])
        }
    }

    @Test func `recipients without known capabilities get the standard cipher if the others can read it`() throws {
        #expect(try choose([nil, [.aes256GCM, .aes256CBC]]).cipher == .aes256GCM)
        #expect(try choose([nil, [.aes256GCM, .aes256CBC]], standard: .aes256CBC).cipher == .aes256CBC)
        #expect(try choose([nil, [.aes128CBC]]).cipher == .aes128CBC)
    }

    @Test func `no cipher below the floor is negotiated, and a recipient who announces only such counts as unknown`()
        throws
    {
        let low = try choose([[.aes128CBC], [.aes256GCM]], floor: .aes256CBC)
        #expect(low.cipher == .aes256GCM)
        #expect(
            low.warnings == ["0@example.com announces no cipher as good as aes-256-cbc, so its announcement is ignored"]
        )
        let historic = try #require(ContentCipher.all.first { $0.name == "des-ede3-cbc" })
        let old = try choose([[historic]])
        #expect(old.cipher == .aes256GCM)
        #expect(old.warnings.count == 1)
    }

    @Test func `without a common cipher the error says who announces which`() throws {
        #expect(
            throws: MessageError.noCommonCipher(
                "0@example.com announces aes-256-gcm; 1@example.com announces aes-256-cbc, aes-128-cbc"
            )
        ) { try choose([[.aes256GCM], [.aes256CBC, .aes128CBC]]) }
        #expect(try choose([[.aes256GCM], [.aes256CBC]], demanded: .aes128CBC).reason == .demanded)
    }

    @Test func `no cipher below the floor is used, even on request`() throws {
        #expect(throws: MessageError.cipherBelowFloor(.aes256CBC, floor: .aes128GCM)) {
            try choose([nil], floor: .aes128GCM, demanded: .aes256CBC)
        }
        #expect(try choose([nil], floor: .aes128GCM, demanded: .aes128GCM).cipher == .aes128GCM)
        let raised = try choose([nil], standard: .aes128CBC, floor: .aes128GCM)
        #expect(raised.cipher == .aes128GCM)
        #expect(raised.reason == .standard)
        #expect(raised.warnings == ["aes-128-cbc is below the floor: aes-128-gcm is used"])
        #expect(
            try choose([nil, [.aes128CBC, .aes256GCM]], standard: .aes128CBC, floor: .aes128GCM).cipher == .aes256GCM
        )
        #expect(try choose([[.aes256GCM]], standard: .aes128CBC, floor: .aes128GCM).warnings == [])
    }

    @Test func `RSA keys are wrapped as the recipient announces`() throws {
        let oaep = SMIMECapability.ours.filter { $0.rsaWrapping != nil }
        #expect(oaep.compactMap(\.rsaWrapping) == [.oaep, .oaepSHA1])
        func wrapping(_ capabilities: [SMIMECapability]) throws -> Recipient.RSAWrapping? {
            let parties = [try party("x", [.aes256GCM], others: capabilities)]
            return try CipherNegotiation(for: parties, .init()).recipients.first?.rsaWrapping
        }
        #expect(try wrapping(oaep) == .oaep)
        #expect(try wrapping(Array(oaep.suffix(1))) == .oaepSHA1)
        #expect(try wrapping([]) == .pkcs1)
    }

    @Test func `the announced capabilities are those that can be read, GCM first`() {
        let names = SMIMECapability.ours.map(\.name)
        #expect(names.first == "aes-256-gcm")
        #expect(names.contains("rsa-oaep") && names.contains("ecdh-hkdf-sha256") && names.contains("zlib"))
        #expect(SMIMECapability.ours.compactMap(\.cipher).count == ContentCipher.writable.count)
        #expect(!names.contains { $0.contains(".") })
        let shown = SMIMECapability.names(of: SMIMECapability.ours)
        #expect(shown.count < names.count && Set(shown).count == shown.count && Set(shown) == Set(names))
    }
}
