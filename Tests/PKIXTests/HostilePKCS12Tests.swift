import ByteStreams
import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// PKCS#12 files with combinations of parts that no program would write.
@Suite struct HostilePKCS12Tests {
    private func read(_ bytes: [UInt8]) throws(CMSError) -> PKCS12 {
        try PKCS12(bytes, passphrase: Passphrase("test".utf8))
    }

    @Test(arguments: [2_147_483_647, 2_000_001, 1 << 40])
    func `PBES2 with too many iterations is refused before deriving`(iterations: Int) {
        #expect(throws: CMSError.limitExceeded("key derivation iterations")) {
            try self.read(.pfx([.encryptedSafe(.pbes2(.pbkdf2(iterations)))]))
        }
    }

    @Test func `iterations add up over the whole file`() {
        let keys = (0..<3).map { [UInt8].encryptedKeyBag(.pbes2(.pbkdf2(700_000 + $0))) }
        #expect(throws: CMSError.limitExceeded("key derivation iterations")) {
            try self.read(.pfx([.plainSafe(keys)]))
        }
    }

    @Test func `a key derivation that several keys share counts once, unless another one comes between`() {
        let key = [UInt8].encryptedKeyBag(.pbes2(.pbkdf2(400_000)))
        let other = [UInt8].encryptedKeyBag(.pbes2(.pbkdf2(1)))
        #expect(throws: CMSError.wrongPassphrase) { try self.read(.pfx([.plainSafe([key, key, key, key, key, key])])) }
        #expect(throws: CMSError.limitExceeded("key derivation iterations")) {
            try self.read(.pfx([.plainSafe(Array(repeating: [key, other], count: 6).flatMap { $0 })]))
        }
    }

    @Test(arguments: [(1 << 20, 8, 1), (1 << 14, 1 << 20, 1), (2, 1, 1 << 30), (1 << 15, 8, 64)])
    func `an scrypt bomb is refused`(cost: Int, blockSize: Int, parallelization: Int) {
        let error = #expect(throws: CMSError.self) {
            try self.read(.pfx([.encryptedSafe(.pbes2(.scrypt(cost, blockSize, parallelization)))]))
        }
        guard case .limitExceeded = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [(0, 8, 1), (1, 8, 1), (3, 8, 1), (1 << 14, 0, 1), (1 << 14, 8, 0)])
    func `impossible scrypt parameters are malformed`(cost: Int, blockSize: Int, parallelization: Int) {
        let error = #expect(throws: CMSError.self) {
            try self.read(.pfx([.encryptedSafe(.pbes2(.scrypt(cost, blockSize, parallelization)))]))
        }
        guard case .malformed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `nested SafeBags are read up to a limited depth`() throws {
        func nested(_ depth: Int) throws -> [UInt8] {
            var bag = [UInt8].certificateBag(try Certificate(fixture: "alice/cert.pem").der)
            for _ in 0..<depth { bag = .nestedBag([bag]) }
            return .pfx([.plainSafe([bag])])
        }
        #expect(throws: CMSError.noKeyPair) { try self.read(nested(8)) }
        #expect(throws: CMSError.limitExceeded("nested PKCS#12 bags")) { try self.read(nested(9)) }
    }

    @Test func `a key and a certificate in nested bags form an identity`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        let keyBag = try key.withPKCS8 { [UInt8].bag(1, Array($0)) }
        let file = try read(.pfx([.plainSafe([.nestedBag([.nestedBag([keyBag]), .certificateBag(alice.der)])])]))
        #expect(file.identities.map(\.certificate) == [alice])
    }

    /// The positions of the four private numbers of an RSA key without which libcrypto does not complete it.
    private func privateNumbers(_ pkcs8: [UInt8]) throws -> [Range<Int>] {
        let exponent: [UInt8] = [2, 3, 1, 0, 1]
        var position = try #require(pkcs8.indices.first { pkcs8[$0...].starts(with: exponent) }) + exponent.count
        return (0..<6).map { _ in
            let first = Int(pkcs8[position + 1])
            let extra = first < 0x80 ? 0 : first & 0x7F
            let length = pkcs8[(position + 2)..<(position + 2 + extra)]
            let count = extra == 0 ? first : length.reduce(0) { $0 << 8 | Int($1) }
            let start = position + 2 + extra
            position = start + count
            return start..<position
        }
    }

    @Test func `an RSA key whose private and public halves differ is refused`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        var pkcs8 = try key.withPKCS8 { Array($0) }
        for number in try privateNumbers(pkcs8) { pkcs8[number.upperBound - 1] ^= 2 }
        let file = [UInt8].pfx([.plainSafe([.bag(1, pkcs8), .certificateBag(alice.der)])])
        let readers: [() throws -> Void] = [
            { _ = try self.read(file) }, { _ = try PrivateKey(der: pkcs8, passphrase: nil) },
        ]
        for read in readers {
            let error = #expect(throws: CMSError.self) { try read() }
            guard case .malformed(.privateKey, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `a damaged RSA key is malformed, and not unsupported`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        var pkcs8 = try key.withPKCS8 { Array($0) }
        let numbers = try privateNumbers(pkcs8)
        let number = try #require(numbers.first)
        // The tag of the private exponent, which has a length of two octets.
        #expect(pkcs8[number.lowerBound - 4] == 0x02)
        pkcs8[number.lowerBound - 4] = 0x04
        let error = #expect(throws: CMSError.self) {
            try self.read(.pfx([.plainSafe([.bag(1, pkcs8), .certificateBag(alice.der)])]))
        }
        guard case .malformed(.privateKey, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `more than a thousand certificates are refused`() throws {
        let bag = [UInt8].certificateBag(try Certificate(fixture: "carol/cert.pem").der)
        let full = [[UInt8]](repeating: bag, count: 1000)
        #expect(throws: CMSError.noKeyPair) { try self.read(.pfx([.plainSafe(full)])) }
        #expect(throws: CMSError.limitExceeded("certificates in a PKCS#12 file")) {
            try self.read(.pfx([.plainSafe(full + [bag])]))
        }
    }

    @Test func `a PKCS#12 file over 16 MiB is refused`() {
        #expect(throws: CMSError.limitExceeded("PKCS#12 size")) {
            try self.read(.pfx([.plainSafe([[UInt8](repeating: 0x30, count: 1 << 24)])]))
        }
    }

    @Test func `a million empty elements do not fill the memory`() {
        let filler = [UInt8].tlv(0x30, (0..<1_000_000).flatMap { _ in [0x30, 0x00] as [UInt8] })
        #expect(throws: CMSError.limitExceeded("ASN.1 elements")) { try self.read(.pfx([filler])) }
    }

    @Test func `unknown bags are skipped and reported`() throws {
        let alice = try Certificate(fixture: "alice/cert.pem")
        let key = try PrivateKey(pem: Fixtures.cert("alice/key.pem"), passphrase: nil)
        let bags = [
            [UInt8].bag(9, .tlv(0x04, [1])), try key.withPKCS8 { .bag(1, Array($0)) }, .certificateBag(alice.der),
        ]
        let file = try read(.pfx([.plainSafe(bags)]))
        #expect(file.identities.count == 1)
        #expect(file.problems.map(\.code) == ["pkcs12-no-mac", "pkcs12-unsupported"])
    }
}

extension [UInt8] {
    /// A key derivation function with arbitrary, possibly absurd parameters.
    fileprivate enum Derivation {
        case pbkdf2(Int)
        case scrypt(Int, Int, Int)
    }

    /// One element of DER.
    fileprivate static func tlv(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = parts.flatMap { $0 }
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = Swift.withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }

    fileprivate static func integer(_ value: Int) -> [UInt8] {
        let octets = Swift.withUnsafeBytes(of: value.bigEndian) { Array($0.drop { $0 == 0 }) }
        return .tlv(0x02, (octets.first ?? 0x80) < 0x80 ? octets : [0] + octets)
    }

    /// The OID `1.2.840.113549` followed by `rest`; each number must be below 128.
    private static func rsadsi(_ rest: UInt8...) -> [UInt8] { .tlv(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d] + rest) }

    fileprivate static func pfx(_ safes: [[UInt8]]) -> [UInt8] {
        .tlv(0x30, .integer(3), .data(.tlv(0x30, safes.flatMap { $0 })))
    }

    private static func data(_ contents: [UInt8]) -> [UInt8] {
        .tlv(0x30, .rsadsi(1, 7, 1), .tlv(0xa0, .tlv(0x04, contents)))
    }

    fileprivate static func plainSafe(_ bags: [[UInt8]]) -> [UInt8] { .data(.tlv(0x30, bags.flatMap { $0 })) }

    fileprivate static func encryptedSafe(_ algorithm: [UInt8]) -> [UInt8] {
        let info = [UInt8].tlv(0x30, .rsadsi(1, 7, 1), algorithm, .tlv(0x80, [UInt8](repeating: 0, count: 32)))
        return .tlv(0x30, .rsadsi(1, 7, 6), .tlv(0xa0, .tlv(0x30, .integer(0), info)))
    }

    fileprivate static func bag(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        .tlv(0x30, .rsadsi(1, 12, 10, 1, type), .tlv(0xa0, value))
    }

    fileprivate static func nestedBag(_ bags: [[UInt8]]) -> [UInt8] { .bag(6, .tlv(0x30, bags.flatMap { $0 })) }

    fileprivate static func certificateBag(_ der: [UInt8]) -> [UInt8] {
        .bag(3, .tlv(0x30, .rsadsi(1, 9, 22, 1), .tlv(0xa0, .tlv(0x04, der))))
    }

    fileprivate static func encryptedKeyBag(_ algorithm: [UInt8]) -> [UInt8] {
        .bag(2, .tlv(0x30, algorithm, .tlv(0x04, [UInt8](repeating: 0, count: 32))))
    }

    fileprivate static func pbes2(_ derivation: Derivation) -> [UInt8] {
        let salt = [UInt8].tlv(0x04, [1, 2, 3, 4, 5, 6, 7, 8])
        let function: [UInt8] =
            switch derivation {
            case .pbkdf2(let iterations): .tlv(0x30, .rsadsi(1, 5, 12), .tlv(0x30, salt, .integer(iterations)))
            case .scrypt(let cost, let size, let parallel):
                .tlv(
                    0x30,
                    .tlv(0x06, [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]),
                    .tlv(0x30, salt, .integer(cost), .integer(size), .integer(parallel))
                )
            }
        let aes256: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a]
        let cipher = [UInt8].tlv(0x30, .tlv(0x06, aes256), .tlv(0x04, [UInt8](repeating: 0, count: 16)))
        return .tlv(0x30, .rsadsi(1, 5, 13), .tlv(0x30, function, cipher))
    }
}
