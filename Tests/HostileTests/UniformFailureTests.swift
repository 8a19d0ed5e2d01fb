import ByteStreams
import Foundation
import PKIX
import SMIME
import TestSupport
import Testing

/// Whatever is wrong behind the RecipientInfo, the failure is the same in output, status and time.
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
    private static func block(_ head: [UInt8], _ key: [UInt8], zeroAt: Int? = nil, isSeparated: Bool = true) -> [UInt8]
    {
        var bytes =
            head + [UInt8](repeating: 0x55, count: 256 - head.count - key.count - 1) + [isSeparated ? 0 : 1] + key
        if let zeroAt { bytes[zeroAt] = 0 }
        return bytes
    }

    private static func groups(isCBC: Bool) -> [Group] {
        let other = [UInt8](repeating: 0x33, count: 32)
        return [
            padded("other key", isCBC: isCBC) { _ in block([0, 2], other) },
            padded("key of 16 bytes", isCBC: isCBC) { block([0, 2], Array($0.prefix(16))) },
            padded("key of 33 bytes", isCBC: isCBC) { block([0, 2], $0 + [1]) },
            padded("no key", isCBC: isCBC) { _ in block([0, 2], []) },
            padded("no separator", isCBC: isCBC) { block([0, 2], $0.map { $0 | 1 }, isSeparated: false) },
            padded("early zero", isCBC: isCBC) { block([0, 2], $0, zeroAt: 5) },
            padded("block type 1", isCBC: isCBC) { block([0, 1], $0) },
            padded("first byte 1", isCBC: isCBC) { block([1, 2], $0) },
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

    /// Prints Welch's t of each group against the first one. Times are not asserted, because other processes share the
    /// machine.
    @Test(.enabled(if: rounds > 0, "a measurement: SMIME_TEST_ROUNDS says how often"), arguments: [true, false])
    func `the times of decryption failures are measured`(isCBC: Bool) async throws {
        let opener = try MessageOpener.ofAliceAndCarol()
        let groups = Self.groups(isCBC: isCBC)
        let mails = try groups.map { MemorySource(try $0.make()) }
        var times = [[Double]](repeating: [], count: mails.count)
        // The groups take turns, so that disturbances affect all of them alike.
        for round in 0..<Self.rounds {
            for index in mails.indices.shuffled() {
                let clock = ContinuousClock.now
                let error = await #expect(throws: (any Error).self) { try await opener.decrypt(mails[index]) }
                let time = ContinuousClock.now - clock
                #expect(error as? CMSError == .decryptionFailed, "\(groups[index])")
                if round > 4 { times[index].append(Double(time.components.attoseconds) / 1e12) }
            }
        }
        for index in mails.indices.dropFirst() {
            let t = Self.welch(times[0], times[index])
            let mean = times[index].reduce(0, +) / Double(times[index].count)
            print(
                "failure \(isCBC ? "cbc" : "gcm"), \(groups[index]): mean \(Int(mean)) µs, Welch's t \(String(format: "%.2f", t))"
            )
        }
    }

    /// Welch's t of two samples, without the slowest tenth of each.
    private static func welch(_ one: [Double], _ other: [Double]) -> Double {
        func moments(_ sample: [Double]) -> (mean: Double, variance: Double, count: Double) {
            let kept = sample.sorted().prefix(max(2, sample.count * 9 / 10))
            let mean = kept.reduce(0, +) / Double(kept.count)
            let variance = kept.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(kept.count - 1)
            return (mean, variance, Double(kept.count))
        }
        let (a, b) = (moments(one), moments(other))
        return (a.mean - b.mean) / (a.variance / a.count + b.variance / b.count).squareRoot()
    }
}
