import ByteStreams
import LibCrypto
import Testing

@Suite struct SecretTests {
    private struct Refused: Error {}

    @Test func `secret bytes are zero where nothing fills them in`() {
        let secret = SecretBytes(count: 3) { $0[1] = 7 }
        #expect(secret.count == 3)
        #expect(secret.copied() == [0, 7, 0])
        #expect(secret.withBytes { $0[1] } == 7)
    }

    @Test func `no secret is made where filling it in fails`() {
        #expect(throws: Refused.self) {
            _ = try SecretBytes(count: 3) { (_: inout MutableSpan<UInt8>) throws(Refused) in throw Refused() }
        }
    }

    @Test func `an empty secret lends no bytes`() {
        #expect(SecretBytes(count: 0) { _ in }.copied().isEmpty)
    }

    @Test func `an array is overwritten, and its copies are not`() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.wipe()
        #expect(bytes == [0, 0, 0])
        var other: [UInt8] = [4, 5]
        let kept = other
        other.wipe()
        #expect(kept == [4, 5])
    }

    @Test func `random secrets differ`() throws {
        #expect(try SecretBytes.random(count: 32).copied() != SecretBytes.random(count: 32).copied())
    }

    @Test func `base64 is decoded in place`() throws {
        func decoded(_ lines: [String]) throws -> [UInt8]? {
            try SecretBytes(base64: lines.map { Array($0.utf8)[...] }[...])?.copied()
        }
        #expect(try decoded(["c2Vj", "cmV0"]) == Array("secret".utf8))
        #expect(try decoded(["no base64!"]) == nil)
    }

    @Test func `locked bytes hold what they are filled with`() throws {
        let locked = try #require(LockedBytes(count: 5))
        #expect(locked.withBytes { $0.count } == 5)
        locked.fill { $0[4] = 9 }
        #expect(locked.withBytes { Array($0) } == [0, 0, 0, 0, 9])
    }

    @Test func `a passphrase is lent without its terminator`() {
        let passphrase = Passphrase("häuslich".utf8)
        #expect(passphrase.withBytes { Array($0) } == Array("häuslich".utf8))
        let copy = passphrase.copy()
        #expect(copy.withBytes { Array($0) } == Array("häuslich".utf8))
        let empty = Passphrase("".utf8)
        let isEmpty = empty.isEmpty
        #expect(isEmpty)
    }
}
