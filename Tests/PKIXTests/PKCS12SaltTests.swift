import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// Files for older programs have salts from which gpgsm 2.2 derives the right key.
@Suite struct PKCS12SaltTests {
    /// Salts with the passphrase `test` from which gpgsm's derivation, reimplemented by hand, yields another key than RFC
    /// 7292, and their neighbours. With the first salt, the sum with the passphrase begins with a zero byte; with the second
    /// one, the sum with the salt does.
    @Test(arguments: [(0x2D, true), (0x33, true), (0x2C, false), (0x2E, false), (0x32, false)])
    func `a salt that gpgsm 2.2 misreads is recognized`(_ last: UInt8, _ isMisread: Bool) throws {
        let salt = [UInt8](repeating: 0, count: 7) + [last]
        #expect(try PKCS12.isMisreadByGpgsm(Passphrase("test".utf8), salt: salt, iterations: 2048) == isMisread)
    }

    @Test func `about one salt in 128 is misread`() throws {
        var random = SeededGenerator(7292)
        let passphrase = Passphrase("a longer passphrase that needs more than one block of the digest".utf8)
        var count = 0
        for _ in 0..<12_800 {
            let salt = (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
            if try PKCS12.isMisreadByGpgsm(passphrase, salt: salt, iterations: 1) { count += 1 }
        }
        #expect((60...200).contains(count), "\(count)")
    }

    @Test(arguments: [PKCS12.Compatibility.legacy, .macos])
    func `no PKCS#12 file is written with a salt that gpgsm misreads`(_ compatibility: PKCS12.Compatibility) throws {
        let identities = try PKCS12(Fixtures.cert("carol/carol.p12"), passphrase: Passphrase("test".utf8)).identities
        var salts = 0
        for _ in 0..<250 {
            let file = try PKCS12.encode(identities, passphrase: Passphrase("test".utf8), compatibility: compatibility)
            for salt in Self.salts(of: file) {
                salts += 1
                #expect(
                    try !PKCS12.isMisreadByGpgsm(Passphrase("test".utf8), salt: salt, iterations: 2048),
                    "\(salt)"
                )
            }
        }
        #expect(salts == 500)
    }

    /// The salts of triple DES with SHA-1 in a file. They are found by the OID, which is followed by a SEQUENCE that begins
    /// with an OCTET STRING of eight bytes.
    private static func salts(of file: [UInt8]) -> [[UInt8]] {
        let algorithm: [UInt8] = [6, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 3]
        return file.indices.filter { file[$0...].starts(with: algorithm) }.map { Array(file[($0 + 16)...].prefix(8)) }
    }
}
