import ByteStreams
import CMSSyntax
import Foundation
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// Messages made by other projects: the expected verdicts, and byte-exact round trips.
@Suite struct CorpusMessageTests {
    /// A time at which the certificates of most sets are valid.
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    @Test func `every signed message of the corpora gets its verdict`() async throws {
        var figures = Figures("verify")
        for item in try Corpus.cases("verify") {
            let strict = try await verify(item)
            // Old collections use algorithms that are weak today. That must be the only error in the verdict.
            let isWeak = strict.signers.flatMap(\.problems).contains { $0.kind.isWeakness && $0.level == .error }
            if isWeak { #expect(strict.status != .valid, "\(item.id) is weak") }
            let report = isWeak ? try await verify(item, exceptions: .weakAlgorithms) : strict
            let isGood = Self.isGood(report, item)
            figures.count(
                item,
                isGood ? isWeak ? "weak" : "good" : "refused",
                isGood: isGood,
                note: Self.reasons(report)
            )
            if item.expect == "fail" { #expect(report.status != .valid, "\(item.id) was accepted") }
        }
        figures.report()
        #expect(figures.surprises == [])
    }

    @Test func `every encrypted message of the corpora opens`() async throws {
        var figures = Figures("decrypt")
        for item in try Corpus.cases("decrypt") {
            let bytes = try Fixtures.corpus(item.file)
            let opener = MessageOpener(
                try Keyring(item.needs),
                at: item.needs?.at.map { Date(timeIntervalSince1970: $0) } ?? Self.now
            )
            do {
                let opened =
                    try bytes.first == 0x30
                    ? await opener.decrypt(cms: MemorySource(bytes).stream(), in: MemorySource(bytes))
                    : await opener.decrypt(MemorySource(bytes))
                let sink = MemorySink()
                try opened.write(to: sink)
                let text = String(decoding: sink.bytes, as: UTF8.self)
                if let part = item.then?.contains { #expect(text.contains(part), "\(item.id)") }
                figures.count(item, "opened", isGood: true)
            } catch {
                figures.count(item, "refused", isGood: false, note: "\(error)")
            }
        }
        figures.report()
        #expect(figures.surprises == [])
    }

    @Test func `every message of the corpora is decrypted byte for byte`() async throws {
        var figures = Figures("round trip")
        let keyring = try Keyring(people: ["alice"])
        let recipient = Recipient(unchecked: try #require(keyring.identities.first).certificate)
        let opener = MessageOpener(keyring, at: Self.now)
        for item in try Corpus.cases("roundtrip") {
            let bytes = try Fixtures.corpus(item.file)
            do {
                for cipher in [ContentCipher.aes256GCM, .aes128CBC] {
                    let sink = MemorySink()
                    let protector = try MessageProtector(MemorySource(bytes), omitting: [])
                    try protector.encrypt(to: [recipient], cipher: cipher, at: Self.now, to: sink)
                    let back = MemorySink()
                    try await opener.decrypt(MemorySource(sink.bytes)).write(to: back)
                    #expect(back.bytes == bytes, "\(item.id)")
                }
                try await signAndVerify(item, bytes, opener: opener)
                figures.count(item, "same", isGood: true)
            } catch {
                figures.count(item, "refused", isGood: false, note: "\(error)")
                #expect(item.expect == "any", "\(item.id): \(error)")
            }
        }
        figures.report()
        #expect(figures.surprises == [])
    }

    /// Signs a message and removes the signature again. The bytes, or at least the decoded parts, must be the same.
    private func signAndVerify(_ item: Corpus.Case, _ bytes: [UInt8], opener: MessageOpener) async throws {
        let source = MemorySource(bytes)
        let sink = MemorySink()
        let signer = try SignedDataWriter.Signer(person: "alice")
        try MessageProtector(source, omitting: []).sign(by: signer, as: .detached, at: Self.now, to: sink)
        let result = try await opener.verify(MemorySource(sink.bytes))
        #expect(result.report.signers.first?.integrity.ok == true, "\(item.id): \(Self.reasons(result.report))")
        #expect(result.report.coverage == .whole, "\(item.id)")
        let content = MemorySink()
        #expect(try result.writeContent(to: content), "\(item.id)")
        let signed = MemorySource(content.bytes)
        let (before, after) = try (MIMEReader.message(in: source), MIMEReader.message(in: signed))
        #expect(try leaves(before, source) == leaves(after, signed), "\(item.id)")
    }

    /// The decoded content of every part, with canonical line ends.
    private func leaves(_ entity: Entity, _ source: any ByteSource) throws -> [[UInt8]] {
        guard entity.children.isEmpty else { return try entity.children.flatMap { try leaves($0, source) } }
        if let embedded = try entity.embeddedMessage(in: source) { return try leaves(embedded, source) }
        let decoded = entity.decodedBody(of: source)
        let isText = entity.transferEncoding.isIdentity || entity.contentType.type == "text"
        return [
            try (isText ? decoded.lines(endingIn: .crlf) : decoded).makeReader().readAll(
                limit: .max,
                orThrow: CancellationError()
            )
        ]
    }

    private func verify(_ item: Corpus.Case, exceptions: VerdictExceptions = []) async throws -> VerificationReport {
        let bytes = try Fixtures.corpus(item.file)
        let opener = MessageOpener(
            try Keyring(item.needs),
            at: item.needs?.at.map { Date(timeIntervalSince1970: $0) } ?? Self.now,
            options: ValidationOptions(revocation: item.needs?.crl == true ? .hard : .off),
            exceptions: exceptions
        )
        do {
            if bytes.first == 0x30 {
                let content = try item.needs?.content.map { MemorySource(try Fixtures.corpus($0)) }
                return try await opener.verify(cms: MemorySource(bytes).stream(), detached: content).report
            }
            return try await opener.verify(MemorySource(bytes)).report
        } catch {
            Issue.record("\(item.id): \(error)")
            return VerificationReport()
        }
    }

    /// Whether everything that the case tests is valid. Its certificates may be for other purposes than mail.
    private static func isGood(_ report: VerificationReport, _ item: Corpus.Case) -> Bool {
        guard !report.signers.isEmpty, !report.isMalformed else { return false }
        return report.signers.allSatisfy { signer in
            let purposes: Set = ["chain-purpose", "key-usage", "weak-key", "chain-weak-signature"]
            let chain = signer.chain.problems.filter { $0.level == .error }
            let isChainGood = chain.allSatisfy { item.needs?.anyPurpose == true && purposes.contains($0.code) }
            return signer.integrity.ok == true
                && (item.needs?.cryptoOnly == true
                    || isChainGood && signer.time.ok == true
                        && (item.needs?.crl != true || signer.revocation.problems.isEmpty))
        }
    }

    private static func reasons(_ report: VerificationReport) -> String {
        let axes = report.signers.flatMap { [$0.integrity, $0.chain, $0.identity, $0.time] }.flatMap(\.problems)
        return (report.problems + axes).map(\.code).joined(separator: " ") + " \(report.status)"
    }
}
