import ByteStreams
import CMSSyntax
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

@Suite struct SignedDataTests {
    static let signers = ["alice", "bob", "carol", "p384", "p521", "pss"]
    private let time = Date(timeIntervalSince1970: 1_790_000_000)

    private func sign(
        _ content: [UInt8],
        by name: String,
        digest: DigestAlgorithm = .sha256,
        isDetached: Bool = false,
        usesKeyIdentifier: Bool = false
    ) throws -> [UInt8] {
        let identity = try TestIdentity(name)
        return try SignedDataWriter.Signer(
            Identity(unchecked: identity.certificate, identity.key),
            digest: digest,
            usesKeyIdentifier: usesKeyIdentifier
        ).signed(content, isDetached: isDetached, at: time)
    }

    private func codes(_ data: SignedData) throws -> [String] {
        let signer = try #require(data.signers.first)
        return data.check(signer, candidates: data.certificates).problems.map(\.code)
    }

    @Test(arguments: signers, [0, 1, 2048, 300_000])
    func `a signature verifies here and with openssl`(name: String, count: Int) throws {
        let content = sample(count)
        let signed = try sign(content, by: name)
        let sink = MemorySink()
        let data = try SignedData(reading: ByteStream(signed), content: sink)
        #expect(sink.bytes == content)
        #expect(try codes(data) == [])
        #expect(data.signers.first?.signingTime == time)
        #expect(data.signers.first?.capabilities.map(\.name).first == "aes-256-gcm")
        let opened = try OpenSSLCommand().cms("-verify -inform DER -noverify", input: signed)
        #expect(opened == content)
    }

    @Test(arguments: signers, [DigestAlgorithm.sha256, .sha384, .sha512])
    func `detached signatures verify with every digest`(name: String, digest: DigestAlgorithm) throws {
        let content = sample(5000)
        let signature = try sign(content, by: name, digest: digest, isDetached: true, usesKeyIdentifier: true)
        var data = try SignedData(reading: ByteStream(signature))
        #expect(!data.hasContent)
        try data.hashDetached(ByteStream(content))
        #expect(try codes(data) == [])
        let openssl = try OpenSSLCommand()
        let file = openssl.folder.appending(path: "content")
        try Data(content).write(to: file)
        #expect(try openssl.cms("-verify -inform DER -noverify -content \(file.path)", input: signature) == content)
        try data.hashDetached(ByteStream(sample(5001)))
        #expect(try codes(data) == ["content-changed"])
    }

    @Test(arguments: [
        "-nodetach", "-nodetach -stream", "-nodetach -keyid", "-nodetach -noattr", "-nodetach -md sha512",
        "-nodetach -cades",
        "-nodetach -stream -indef", "-nodetach -md sha1",
    ])
    func `a signature by openssl verifies in every encoding`(options: String) throws {
        // Reading every byte by itself takes long, so that content is only a little longer than a window.
        for (name, count, sizes) in [
            ("alice", 400_000, [Window.size, 1000]), ("carol", 400_000, [Window.size, 1000]),
            ("alice", Window.size + 100, [1]),
        ] {
            let folder = try TestIdentity(name).folder.path
            let content = sample(count)
            let signed = try OpenSSLCommand().cms(
                "-sign -outform DER -signer \(folder)/cert.pem -inkey \(folder)/key.pem \(options)",
                input: content
            )
            for size in sizes {
                let sink = MemorySink()
                let data = try SignedData(reading: ByteStream(signed).inPieces(of: size), content: sink)
                #expect(sink.bytes == content)
                #expect(try codes(data) == (options.contains("sha1") ? ["digest-sha1"] : []))
            }
        }
    }

    @Test(arguments: [
        ("-md sha1 -keyopt rsa_mgf1_md:sha1", ["digest-sha1"]),
        ("-md sha1 -keyopt rsa_mgf1_md:sha256", ["digest-sha1"]),
        ("-md sha256 -keyopt rsa_mgf1_md:sha1", []),
    ])
    func `a PSS signature is judged weak by its digest, not by its mask digest`(options: String, problems: [String])
        throws
    {
        let folder = try TestIdentity("alice").folder.path
        let signed = try OpenSSLCommand().cms(
            "-sign -nodetach -outform DER -signer \(folder)/cert.pem -inkey \(folder)/key.pem"
                + " -keyopt rsa_padding_mode:pss \(options)",
            input: sample(100)
        )
        let data = try SignedData(reading: ByteStream(signed))
        #expect(data.signers.first?.signatureName == "rsa-pss")
        #expect(try codes(data) == problems)
    }

    @Test func `PSS signatures by a plain RSA key verify`() throws {
        let folder = try TestIdentity("alice").folder.path
        let signed = try OpenSSLCommand().cms(
            "-sign -nodetach -outform DER -signer \(folder)/cert.pem -inkey \(folder)/key.pem"
                + " -keyopt rsa_padding_mode:pss -keyopt rsa_pss_saltlen:32",
            input: sample(100)
        )
        let data = try SignedData(reading: ByteStream(signed))
        #expect(data.signers.first?.signatureName == "rsa-pss")
        #expect(try codes(data) == [])
    }

    @Test func `every changed byte of the content is detected, without a crash`() throws {
        let content = sample(64)
        let signed = try sign(content, by: "carol")
        let start = try #require(signed.firstRange(of: content)?.lowerBound)
        for index in signed.indices {
            var changed = signed
            changed[index] ^= 0x41
            guard let data = try? SignedData(reading: ByteStream(changed)), let signer = data.signers.first else {
                continue
            }
            let problems = data.check(signer, candidates: data.certificates).problems
            if (start..<start + content.count).contains(index) { #expect(problems.map(\.code) == ["content-changed"]) }
        }
    }

    @Test func `every truncation is an error`() throws {
        let signed = try sign(sample(64), by: "carol")
        for count in 0..<signed.count {
            #expect(throws: CMSError.self) { try SignedData(reading: ByteStream(Array(signed.prefix(count)))) }
        }
    }

    @Test func `a substituted certificate is detected by the signing-certificate attribute`() throws {
        let data = try SignedData(reading: ByteStream(sign(sample(10), by: "alice")))
        let signer = try #require(data.signers.first)
        let other = try TestIdentity("bob").certificate
        #expect(data.check(signer, candidates: [other]).problems.map(\.code) == ["signer-certificate-missing"])
    }
}
