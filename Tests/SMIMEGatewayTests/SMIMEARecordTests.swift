import CertificateDiscovery
import InternetMessage
import PKIX
import SMIMEAgent
import SMIMEStore
import TestSupport
import Testing

/// Reading the SMIMEA records that were found.
@Suite struct SMIMEARecordTests {
    @Test func `records whose certificates cannot be read hold mail, and hide no others`() throws {
        let source = SMIMEASource(SecureResolver(resolver: nil, anchors: nil), timeLimit: .seconds(60))
        let bob = try AddressScope("bob@example.com")
        let record: [UInt8] = [3, 0, 0] + (try Certificate(fixture: "bob/cert.pem").der)
        let (torn, digest) = (Array(record.prefix(300)), [3, 0, 1] + [UInt8](repeating: 0, count: 32))
        func answer(_ records: [[UInt8]]) -> SourceAnswer {
            source.answer(from: [(bob, .records(records, lifetime: .seconds(60)))]) { true }
        }
        #expect(answer([digest, torn]).outages[bob]?.holdsMail == true)
        #expect(answer([digest]).outages.isEmpty)
        let partial = answer([torn, record])
        #expect(partial.found.count == 1 && partial.outages[bob]?.holdsMail == true)
    }

    @Test func `records for which there is no time hold mail to their addresses alone`() throws {
        let source = SMIMEASource(SecureResolver(resolver: nil, anchors: nil), timeLimit: .seconds(60))
        let bob = try AddressScope("bob@example.com")
        let people = try (1...3).map { try AddressScope("u\($0)@evil.example") }
        let record: [UInt8] = [3, 0, 0] + (try Certificate(fixture: "bob/cert.pem").der)
        let many = SecureResolver.Answer.records(Array(repeating: record, count: 100), lifetime: .seconds(60))
        var results: [(scope: AddressScope, result: SecureResolver.Answer)] = people.map { ($0, many) }
        results.append((bob, .records([record], lifetime: .seconds(60))))
        results.append((bob, .unsigned))
        // There is time to read two results, and Bob's are the smallest.
        var count = 0
        let answer = source.answer(from: results) {
            count += 1
            return count <= 2
        }
        #expect(Set(answer.found.map(\.address)) == [bob, people[0]])
        #expect(Set(answer.outages.keys) == Set(people.dropFirst()))
        #expect(answer.outages.values.allSatisfy { $0.holdsMail })
        // The others are asked first the next time, and there is no pause.
        #expect(answer.unasked == Set(people.dropFirst()) && answer.late.isEmpty)
    }
}
