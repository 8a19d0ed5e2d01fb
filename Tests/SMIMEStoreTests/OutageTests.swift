import Foundation
import SMIMEStore
import TestSupport
import Testing

/// Services that did not answer are remembered for a few minutes only.
@Suite struct OutageTests {
    private func silent(
        _ services: [String],
        answered: [String] = [],
        after seconds: TimeInterval,
        in store: Store
    ) async throws {
        var batch = ImportBatch()
        (batch.silentServices, batch.answeringServices) = (services, answered)
        #expect(!batch.isEmpty)
        _ = try await store.add(batch, at: Date.judged.addingTimeInterval(seconds))
    }

    private func known(after seconds: TimeInterval, in store: Store) async throws -> Set<String> {
        Set(try await store.anchors.silentServices(at: Date.judged.addingTimeInterval(seconds)).keys)
    }

    @Test func `a silent service is remembered for five minutes, also if the clock was wrong before`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        #expect(try await known(after: 0, in: store) == [])
        try await silent(["http://a.example/", "http://b.example/"], after: 0, in: store)
        #expect(try await known(after: 299, in: store) == ["http://a.example/", "http://b.example/"])
        #expect(try await known(after: 300, in: store) == [])
        #expect(try await known(after: -1, in: store) == [])
        try await silent([], answered: ["http://a.example/"], after: 10, in: store)
        #expect(try await known(after: 20, in: store) == ["http://b.example/"])
        // An entry with a time in the future, written when a clock was fast, is removed with the next one.
        try await silent(["http://late.example/"], after: 9000, in: store)
        try await silent(["http://c.example/"], after: 60, in: store)
        #expect(try await known(after: 9100, in: store) == [])
        #expect(try await known(after: 61, in: store) == ["http://c.example/"])
        #expect(try await store.check().filter { $0.level == .error }.isEmpty)
    }

    @Test func `the number of remembered silent services is limited`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        for second in 0..<3 {
            let services = (0..<200).map { "http://\(second).example/\($0)" }
            try await silent(services, after: TimeInterval(second), in: store)
        }
        try await silent([String(repeating: "x", count: 4096)], after: 3, in: store)
        let known = try await known(after: 3, in: store)
        #expect(known.count == 256)
        #expect(known.contains("http://2.example/0"))
    }
}
