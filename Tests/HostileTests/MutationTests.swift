import ByteStreams
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Valid mails with random changes: the verdict on changed content is never good, and no new bytes are released.
///
/// SMIME_TEST_MUTATIONS sets the number of mutations for each kind of mail.
@Suite struct MutationTests {
    private static let count = ProcessInfo.processInfo.environment["SMIME_TEST_MUTATIONS"].flatMap { Int($0) } ?? 350
    private static let secret = "the eagle lands at midnight"
    private static let text = Array("Content-Type: text/plain\r\n\r\n\(secret)\r\n".utf8)

    private static let signed: [(name: String, make: @Sendable () throws -> [UInt8])] = [
        ("detached", { MailForge().signed(text, signature: try SignedForge(text, by: Person.alice.get()).encoded()) }),
        ("opaque", { MailForge().cms(try SignedForge(text, by: Person.alice.get(), isDetached: false).encoded()) }),
        (
            "opaque binary",
            {
                let object = try SignedForge(text, by: Person.alice.get(), isDetached: false).encoded()
                let fields = ["Content-Type: application/pkcs7-mime", "Content-Transfer-Encoding: binary"]
                return MailForge().mail(fields, object)
            }
        ),
    ]
    private static let encrypted: [(name: String, make: @Sendable () throws -> [UInt8])] = [
        (
            "gcm",
            { MailForge().cms(try EnvelopedForge(gcm: text, to: Person.alice.get()).encoded(), "authenveloped-data") }
        ),
        ("cbc", { MailForge().cms(try EnvelopedForge(cbc: text, to: Person.alice.get()).encoded(), "enveloped-data") }),
        (
            "signed and encrypted",
            {
                let inner = SignedShape().entity(
                    text,
                    signature: try SignedForge(text, by: Person.alice.get()).encoded()
                )
                let object = try EnvelopedForge(gcm: inner, to: Person.alice.get()).encoded()
                return MailForge().cms(object, "authenveloped-data")
            }
        ),
    ]

    @Test(arguments: signed.indices)
    func `a changed signed mail is never valid over changed content`(index: Int) async throws {
        let mail = try Self.signed[index].make()
        let opener = try MessageOpener.ofAliceAndCarol()
        let untouched = try await opener.verify(MemorySource(mail))
        #expect(untouched.report.status == .valid)
        var mutator = Mutator(seed: UInt64(index) + 1)
        var (valid, refused) = (0, 0)
        for round in 0..<Self.count {
            let changed = mutator.mutate(mail)
            let result = try await opener.verify(MemorySource(changed))
            let sink = MemorySink()
            let isWritten = try result.writeContent(to: sink)
            if isWritten { #expect(sink.bytes.withLines(endingIn: .crlf) == Self.text, "round \(round)") }
            guard result.report.status == .valid else {
                refused += 1
                continue
            }
            valid += 1
            #expect(isWritten && result.report.coverage == .whole, "round \(round)")
            #expect(
                result.report.signers.allSatisfy { $0.certificate?.addresses.contains("alice@example.com") == true },
                "round \(round)"
            )
        }
        print(
            "mutations of \(Self.signed[index].name): \(Self.count), \(refused) refused, \(valid) valid over the very content"
        )
    }

    @Test(arguments: encrypted.indices)
    func `a changed encrypted mail never yields changed content`(index: Int) async throws {
        let mail = try Self.encrypted[index].make()
        let isAuthenticated = Self.encrypted[index].name != "cbc"
        let opener = try MessageOpener.ofAliceAndCarol()
        var mutator = Mutator(seed: UInt64(index) + 100)
        var (opened, refused) = (0, 0)
        for round in 0..<Self.count {
            let changed = mutator.mutate(mail)
            let sink = MemorySink()
            do {
                let message = try await opener.decrypt(MemorySource(changed))
                try message.write(to: sink)
            } catch {
                refused += 1
                #expect(sink.bytes.isEmpty, "round \(round)")
                continue
            }
            opened += 1
            // CBC does not authenticate: damaged content may pass, and the report says so.
            guard isAuthenticated else { continue }
            #expect(Self.body(of: sink.bytes) == Self.body(of: Self.text), "round \(round)")
        }
        print("mutations of \(Self.encrypted[index].name): \(Self.count), \(refused) refused, \(opened) opened")
    }

    private static func body(of bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.withLines(endingIn: .lf), as: UTF8.self)
        return text.range(of: "\n\n").map { String(text[$0.upperBound...]) } ?? text
    }
}

extension MessageOpener {
    /// Opens messages with the keys of alice and carol.
    static func ofAliceAndCarol() throws -> MessageOpener {
        MessageOpener(try Keyring(people: ["alice", "carol"]), at: .judged)
    }
}

/// Changes bytes at random, reproducibly.
private struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    private mutating func next(below bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state >> 1) % max(bound, 1)
    }

    /// `bytes` with one to three changes: flipping, replacing, removing, duplicating, moving or inserting.
    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        for _ in 0...next(below: 3) {
            let place = next(below: changed.count)
            let end = min(changed.count, place + 1 + next(below: 12))
            switch next(below: 7) {
            case 0, 1: changed[place] ^= UInt8(1 << next(below: 8))
            case 2: changed[place] = UInt8(next(below: 256))
            case 3: changed.removeSubrange(place..<end)
            case 4: changed.insert(contentsOf: changed[place..<end], at: next(below: changed.count))
            case 5: changed.insert(UInt8(next(below: 256)), at: place)
            default: changed.swapAt(place, next(below: changed.count))
            }
            if changed.isEmpty { changed = [0] }
        }
        return changed
    }
}
