import ByteStreams
import Foundation
import PKIX
import SMIME
import Synchronization
import TestSupport
import Testing

/// Whatever is wrong after the RecipientInfo was chosen, the failure is the same in output, status and time.
@Suite struct UniformFailureTests {
    private static let rounds = ProcessInfo.processInfo.environment["SMIME_TEST_ROUNDS"].flatMap { Int($0) } ?? 0

    /// A group of messages to alice that fail in the same way.
    struct Group: Sendable, CustomStringConvertible {
        let description: String
        let make: @Sendable () throws -> [UInt8]
    }

    private static func padded(_ name: String, isCBC: Bool, _ block: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Group
    {
        Group(description: name) {
            let alice = try Person.alice.get()
            var forge = isCBC ? EnvelopedForge(cbc: filler, to: alice) : EnvelopedForge(gcm: filler, to: alice)
            forge.recipients[0].wrap = { key in try alice.key.encryptRaw(block(key)) }
            return MailForge().cms(try forge.encoded(), isCBC ? "enveloped-data" : "authenveloped-data")
        }
    }

    /// Long enough for decryption to dominate the measured time.
    private static let filler = Array("Content-Type: text/plain\r\n\r\n".utf8) + [UInt8](repeating: 0x61, count: 4096)

    /// A block of 256 bytes as in RSAES-PKCS1-v1_5, or a defective one.
    private static func block(_ head: [UInt8], key: [UInt8], zeroAt: Int? = nil, isSeparated: Bool = true) -> [UInt8] {
        var bytes =
            head + [UInt8](repeating: 0x55, count: 256 - head.count - key.count - 1) + [isSeparated ? 0 : 1] + key
        if let zeroAt { bytes[zeroAt] = 0 }
        return bytes
    }

    private static func groups(isCBC: Bool) -> [Group] {
        let other = [UInt8](repeating: 0x33, count: 32)
        return [
            padded("other key", isCBC: isCBC) { _ in block([0, 2], key: other) },
            padded("key of 16 bytes", isCBC: isCBC) { block([0, 2], key: Array($0.prefix(16))) },
            padded("key of 33 bytes", isCBC: isCBC) { block([0, 2], key: $0 + [1]) },
            padded("no key", isCBC: isCBC) { _ in block([0, 2], key: []) },
            padded("no separator", isCBC: isCBC) { block([0, 2], key: $0.map { $0 | 1 }, isSeparated: false) },
            padded("early zero", isCBC: isCBC) { block([0, 2], key: $0, zeroAt: 5) },
            padded("block type 1", isCBC: isCBC) { block([0, 1], key: $0) },
            padded("first byte 1", isCBC: isCBC) { block([1, 2], key: $0) },
        ] + (isCBC ? vaudenay : [tag])
    }

    private static let tag = Group(description: "tag") {
        var forge = EnvelopedForge(gcm: filler, to: try Person.alice.get())
        forge.tagAfterwards = { $0.dropLast() + [($0.last ?? 0) ^ 1] }
        return MailForge().cms(try forge.encoded(), "authenveloped-data")
    }

    private static let vaudenay = [
        Group(description: "padding") {
            var forge = EnvelopedForge(cbc: filler, to: try Person.alice.get())
            forge.isPadded = false
            forge.plaintext = Array(filler.prefix(4096))
            return MailForge().cms(try forge.encoded(), "enveloped-data")
        },
        Group(description: "no entity") {
            let forge = EnvelopedForge(cbc: [UInt8](repeating: 0x80, count: filler.count), to: try Person.alice.get())
            return MailForge().cms(try forge.encoded(), "enveloped-data")
        },
    ]

    @Test(arguments: [true, false])
    func `every decryption failure has the same message and status`(isCBC: Bool) throws {
        let harness = try Harness.shared.get()
        var answers: Set<String> = []
        for group in Self.groups(isCBC: isCBC) {
            let result = try harness.run(["decrypt"], input: group.make())
            #expect(result.standardOutput.isEmpty, "\(group)")
            answers.insert("\(result.status): \(result.errorText)")
        }
        #expect(answers.count == 1, "\(answers)")
        #expect(answers.first?.hasPrefix("65: ") == true)
    }

    /// A difference from the first group fails the test if it is certain (Welch's t) and large enough to be seen from
    /// outside. The groups take turns, so disturbances by other processes affect all of them alike.
    @Test(.enabled(if: rounds > 0, "takes long: SMIME_TEST_ROUNDS says how many times"), arguments: [true, false])
    func `the time of a decryption failure does not show its cause`(isCBC: Bool) async throws {
        try await compareTimes(Self.groups(isCBC: isCBC), isCBC ? "cbc" : "gcm")
    }

    @Test(.enabled(if: rounds > 0, "takes long: SMIME_TEST_ROUNDS says how many times"))
    func `the time does not show whether the padding around a signature is right`() async throws {
        try await compareTimes([Self.signed(isPadded: true), Self.signed(isPadded: false)], "signed")
    }

    /// A long signed mail in CBC whose end is missing, with the right padding or a wrong one.
    private static func signed(isPadded: Bool) -> Group {
        Group(description: isPadded ? "right padding" : "wrong padding") {
            let object = try SignedForge(MailForge.text, by: Person.bob.get()).encoded()
            let whole = SignedShape().entity(
                MailForge.text + [UInt8](repeating: 0x61, count: 200_000),
                signature: object
            )
            var forge = EnvelopedForge(cbc: whole, to: try Person.alice.get())
            (forge.plaintext, forge.isPadded) = (Array(whole.prefix(200_000 / 16 * 16)), isPadded)
            return MailForge().cms(try forge.encoded(), "enveloped-data")
        }
    }

    /// A provider that counts how many times it is asked for trust: once for each signature that is judged.
    private final class CountingProvider: KeyProvider {
        private let keys: Keyring
        private let counter = Mutex(0)
        var count: Int { counter.withLock { $0 } }

        init() throws { keys = try Keyring(people: ["alice", "carol"]) }

        func identity(for recipients: [EntityIdentifier]) async throws -> Identity? {
            keys.identity(for: recipients)
        }

        func certificates(for signers: [EntityIdentifier]) async throws -> [Certificate] {
            keys.certificates(for: signers)
        }

        func trust(for certificates: [Certificate]) async throws -> TrustStore {
            counter.withLock { $0 += 1 }
            return keys.trust(for: certificates)
        }
    }

    @Test(arguments: [true, false])
    func `a wrong padding ends nothing early`(isWhole: Bool) async throws {
        let object = try SignedForge(MailForge.text, by: Person.bob.get()).encoded()
        // Spaces are no padding.
        let entity = SignedShape().entity(MailForge.text, signature: object)
        let padded = entity + [UInt8](repeating: 0x20, count: 32 - entity.count % 16)
        let provider = try CountingProvider()
        let opener = MessageOpener(provider, at: .judged)
        var forge = EnvelopedForge(cbc: padded, to: try Person.alice.get())
        forge.isPadded = isWhole
        let mail = MemorySource(MailForge(from: "bob@example.com").cms(try forge.encoded(), "enveloped-data"))
        if isWhole {
            #expect(try await opener.decrypt(mail).report.status == .valid)
        } else {
            await #expect(throws: CMSError.decryptionFailed) { try await opener.decrypt(mail) }
            await #expect(throws: CMSError.decryptionFailed) { try await opener.decrypt(mail, keepingSignatures: true) }
        }
        #expect(provider.count == (isWhole ? 1 : 2))
    }

    /// What a wrong key makes of the content often begins like an entity by chance.
    @Test(arguments: ["\n\0\u{1}noise", "x:\0\u{1}noise", "Subject: \u{1}\n\nnoise"])
    func `noise that begins like an entity is opened only with a tag`(noise: String) async throws {
        let opener = try MessageOpener.ofAliceAndCarol()
        let alice = try Person.alice.get()
        let cbc = try EnvelopedForge(cbc: Array(noise.utf8), to: alice).encoded()
        let gcm = try EnvelopedForge(gcm: Array(noise.utf8), to: alice).encoded()
        await #expect(throws: CMSError.decryptionFailed) {
            try await opener.decrypt(MemorySource(MailForge().cms(cbc, "enveloped-data")))
        }
        _ = try await opener.decrypt(MemorySource(MailForge().cms(gcm, "authenveloped-data")))
    }

    private func compareTimes(_ groups: [Group], _ kind: String) async throws {
        let opener = try MessageOpener.ofAliceAndCarol()
        let mails = try groups.map { MemorySource(try $0.make()) }
        var times = [[Double]](repeating: [], count: mails.count)
        for round in 0..<Self.rounds + Self.warmUp {
            for index in mails.indices.shuffled() {
                let clock = ContinuousClock.now
                let error = await #expect(throws: (any Error).self) { try await opener.decrypt(mails[index]) }
                let time = ContinuousClock.now - clock
                #expect(error as? CMSError == .decryptionFailed, "\(groups[index])")
                if round >= Self.warmUp { times[index].append(time / .microseconds(1)) }
            }
        }
        let samples = times.map(Sample.init)
        for index in samples.indices.dropFirst() {
            let (first, sample) = (samples[0], samples[index])
            let (t, share) = (first.welch(sample), abs(sample.mean - first.mean) / first.mean)
            let text =
                "failure \(kind), \(groups[index]): mean \(Int(sample.mean)) µs, of the first group"
                + " \(Int(first.mean)) µs, Welch's t \(String(format: "%.2f", t))"
            print(text)
            #expect(abs(t) < Self.certainty || share < Self.visibleShare, "\(text)")
        }
    }

    /// Rounds that fill caches and are not counted.
    private static let warmUp = 5
    /// Welch's t beyond which chance is excluded, as in tests of implementations for leaks (ISO/IEC 17825).
    private static let certainty = 4.5
    /// The smallest visible difference, as a share of the time of a failure.
    private static let visibleShare = 0.05

    /// The moments of a sample without its slowest tenth.
    private struct Sample {
        let mean, variance, count: Double

        init(_ times: [Double]) {
            let kept = times.sorted().prefix(max(2, times.count * 9 / 10))
            let mean = kept.reduce(0, +) / Double(kept.count)
            (self.mean, count) = (mean, Double(kept.count))
            variance = kept.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / max(1, count - 1)
        }

        /// Welch's t.
        func welch(_ other: Self) -> Double {
            (mean - other.mean) / (variance / count + other.variance / other.count).squareRoot()
        }
    }
}
