import Foundation
import PKIX
import TestSupport
import Testing

/// Cached verdicts hold as long as nothing begins or ends that they depend on.
@Suite struct VerdictTimeTests {
    private let scene: RevocationScene

    init() throws { scene = try RevocationScene() }

    /// Dates around and between the moments at which something begins or ends.
    private func dates(_ moments: [Date]) -> [Date] {
        moments.flatMap { moment in [-90_000, -1, -0.5, 0, 0.5, 1, 90_000].map { moment.addingTimeInterval($0) } }
    }

    /// Judges at all `dates` in several orders, with a store that has cached verdicts and with one that has not.
    private func compare(_ store: TrustStore, at dates: [Date], sourceLocation: SourceLocation = #_sourceLocation) {
        var random = SeededGenerator(17)
        var number = 0
        for _ in 0..<4 {
            for date in dates.shuffled(using: &random) {
                number += 1
                var other = store
                // This pin does not affect any key in the test, but makes the cache key different.
                other.scopes[scene.decoy.publicKeyDigest] = TrustStore.Scopes(pinned: ["\(UUID()) \(number)"])
                let expected = other.judge(scene.leaf, purpose: .signing, at: date)
                let found = store.judge(scene.leaf, purpose: .signing, at: date)
                #expect(found == expected, "\(date)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test func `a cached verdict ends when a certificate of its chain expires`() throws {
        let store = TrustStore(anchors: [scene.root], intermediates: [scene.ca])
        let chain = [scene.leaf, scene.ca, scene.root]
        let moments = chain.map(\.notBefore) + chain.map(\.notAfter)
        compare(store, at: dates(moments))
        // A certificate of the chain can be a second older than the next one; all are valid only after the latest start.
        let start = try #require(chain.map(\.notBefore).max())
        let end = try #require(chain.map(\.notAfter).min())
        #expect(store.judge(scene.leaf, purpose: .signing, at: end).timeProblems.isEmpty)
        #expect(!store.judge(scene.leaf, purpose: .signing, at: end.addingTimeInterval(1)).timeProblems.isEmpty)
        #expect(!store.judge(scene.leaf, purpose: .signing, at: start.addingTimeInterval(-1)).timeProblems.isEmpty)
    }

    @Test func `a cached verdict ends when a revocation list ends`() throws {
        let lists = [try scene.list(-2, lasting: 5), try scene.list(1, lasting: 10)]
        let store = TrustStore(anchors: [scene.root], intermediates: [scene.ca], certificateLists: lists)
        let moments = lists.map(\.thisUpdate) + lists.compactMap(\.nextUpdate)
        compare(store, at: dates(moments))
    }

    @Test func `a revocation list takes effect on its revocation date`() throws {
        let lists = [try scene.list(-2, lasting: 30), try scene.list(5, revoked: 4, lasting: 30)]
        let store = TrustStore(anchors: [scene.root], intermediates: [scene.ca], certificateLists: lists)
        compare(store, at: dates(lists.map(\.thisUpdate) + [scene.now.addingTimeInterval(4 * 86_400)]))
    }
}
