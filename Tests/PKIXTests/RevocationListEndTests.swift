import PKIX
import Testing

/// An expired list can still revoke, but hides neither a current list nor one that was issued later.
@Suite struct RevocationListEndTests {
    /// A list: its CRL Number, the day of issue, how many days it is valid, and whether it revokes the leaf.
    typealias Made = (number: Int?, day: Double, lasting: Double, revokes: Bool)

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lists: [Made]
        let expected: ChainVerdict.Revocation.Status
        var isExpired = false
    }

    static let rows = [
        Row(
            testDescription: "an ended list with a higher number does not hide a current one that revokes",
            lists: [(500, -60, 30, false), (3, -1, 20, true)],
            expected: .revoked
        ),
        Row(
            testDescription: "nor one that does not revoke",
            lists: [(500, -60, 30, false), (3, -1, 20, false)],
            expected: .good
        ),
        Row(
            testDescription: "an ended list that was made later does not hide a current one",
            lists: [(1, -9, 400, true), (2, -8, 2, false)],
            expected: .revoked
        ),
        Row(
            testDescription: "an ended list without a number hides no current one",
            lists: [(1, -9, 400, true), (nil, -8, 2, false)],
            expected: .revoked
        ),
        Row(
            testDescription:
                "a current successor takes back what a current list says, an ended one between them or not",
            lists: [(1, -9, 400, true), (2, -8, 2, false), (3, -7, 400, false)],
            expected: .good
        ),
        Row(
            testDescription: "of current lists beside an ended one the newest counts",
            lists: [(500, -60, 30, false), (3, -2, 20, true), (4, -1, 20, false)],
            expected: .good
        ),
        Row(
            testDescription: "an ended list with a higher number still revokes beside a current one",
            lists: [(2, -8, 2, true), (1, -9, 400, false)],
            expected: .revoked
        ),
        Row(
            testDescription: "a current list with a higher number takes back what an ended one says",
            lists: [(2, -8, 2, true), (3, -7, 400, false)],
            expected: .good
        ),
        Row(
            testDescription: "an ended list alone",
            lists: [(2, -8, 2, false)],
            expected: .unknown,
            isExpired: true
        ),
        Row(testDescription: "an ended list alone still revokes", lists: [(2, -8, 2, true)], expected: .revoked),
        Row(
            testDescription: "of ended lists the newest counts",
            lists: [(1, -9, 2, true), (2, -8, 2, false)],
            expected: .unknown,
            isExpired: true
        ),
        Row(
            testDescription: "an ended list hides no ended one that was made after it, whatever the numbers",
            lists: [(500, -60, 30, false), (3, -8, 2, true)],
            expected: .revoked
        ),
    ]

    @Test(arguments: rows)
    func `an expired list does not hide a current one`(row: Row) throws {
        let scene = try RevocationScene()
        let lists = try row.lists.map {
            try scene.list($0.day, revoked: $0.revokes ? -70 : nil, lasting: $0.lasting, number: $0.number)
        }
        for order in permutations(of: lists) {
            let found = scene.revocation(order)
            #expect(found?.status == row.expected)
            if row.expected != .revoked {
                #expect(found?.problems.contains { $0.code == "crl-expired" } == row.isExpired)
            }
            #expect(scene.revocation(Array(order.dropFirst()), extraLists: [order[0]])?.status == row.expected)
        }
        // The same test among a large number of lists.
        let old = try (1...70).map { try scene.list(-100 - Double($0), lasting: 20, number: 0) }
        #expect(scene.revocation(old + lists)?.status == row.expected)
        #expect(scene.revocation(lists.reversed() + old)?.status == row.expected)
    }

    @Test func `an expired delta list lifts no hold of a current list`() throws {
        let scene = try RevocationScene()
        let base = try scene.list(-9, revoked: -10, number: 1, reason: 6)
        let delta = try scene.list(-8, revoked: -10, lasting: 2, number: 2, base: 1, reason: 8)
        for order in permutations(of: [base, delta]) { #expect(scene.revocation(order)?.status == .revoked) }
    }

    @Test func `an entry that removes a hold proves nothing in a complete list`() throws {
        let scene = try RevocationScene()
        #expect(scene.revocation([try scene.list(-1)])?.status == .good)
        #expect(scene.revocation([try scene.list(-1, revoked: -10, reason: 8)])?.status == .unknown)
    }

    @Test func `an expired list is reported once, by its authority`() throws {
        let scene = try RevocationScene()
        let problems = scene.revocation([try scene.list(-8, lasting: 2, number: 2)])?.problems ?? []
        #expect(problems.filter { $0.text.contains("out of date") }.map(\.code) == ["crl-expired"])
        #expect(problems.contains { $0.text == "the revocation list of CN=CA is out of date" })
    }

    @Test func `an expired list does not replace a current one`() throws {
        let scene = try RevocationScene()
        let ended = try scene.list(-60, lasting: 30, number: 500)
        let current = try scene.list(-1, number: 3)
        #expect(!ended.supersedes(current, at: scene.now))
        #expect(!current.supersedes(ended, at: scene.now))
        #expect(current.outlasts(ended, at: scene.now))
        #expect(!ended.outlasts(current, at: scene.now))
    }
}
