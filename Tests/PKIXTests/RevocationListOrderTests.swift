import PKIX
import Testing

/// Which of several lists of one issuer counts does not depend on the order of import (RFC 5280 §5.2.3).
@Suite struct RevocationListOrderTests {
    /// A list: its CRL Number, the day of issue, and whether it revokes the leaf.
    typealias Made = (number: Int?, day: Double, revokes: Bool)

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lists: [Made]
        let expected: ChainVerdict.Revocation.Status
    }

    static let rows = [
        Row(
            testDescription: "the higher number revokes, both of one moment",
            lists: [(1, -1, false), (2, -1, true)],
            expected: .revoked
        ),
        Row(
            testDescription: "the higher number no longer revokes, both of one moment",
            lists: [(1, -1, true), (2, -1, false)],
            expected: .good
        ),
        Row(
            testDescription: "the higher number revokes though it is older",
            lists: [(1, -1, false), (2, -3, true)],
            expected: .revoked
        ),
        Row(
            testDescription: "the higher number does not revoke though it is older",
            lists: [(9, -1, true), (10, -3, false)],
            expected: .good
        ),
        Row(
            testDescription: "numbers are no strings of bytes",
            lists: [(255, -1, true), (256, -1, false), (127, -1, true), (128, -1, true)],
            expected: .good
        ),
        Row(
            testDescription: "of one number the later revokes",
            lists: [(7, -2, false), (7, -1, true)],
            expected: .revoked
        ),
        Row(
            testDescription: "of one number the later does not revoke",
            lists: [(7, -2, true), (7, -1, false)],
            expected: .good
        ),
        Row(
            testDescription: "in a tie revoked wins",
            lists: [(7, -1, false), (7, -1, true), (6, -1, false)],
            expected: .revoked
        ),
        Row(
            testDescription: "in a tie without numbers revoked wins",
            lists: [(nil, -1, true), (nil, -1, false)],
            expected: .revoked
        ),
        Row(
            testDescription: "without a number the time decides",
            lists: [(5, -2, true), (nil, -1, false)],
            expected: .good
        ),
        Row(
            testDescription: "without a number an older one does not count",
            lists: [(5, -1, false), (nil, -2, true)],
            expected: .good
        ),
        Row(
            testDescription:
                "of lists that replace each other in a circle the highest number is compared with the one without",
            lists: [(5, -3, false), (nil, -2, true), (4, -1, false)],
            expected: .revoked
        ),
        Row(
            testDescription: "a list of later is not yet the newest",
            lists: [(5, -1, false), (6, 5, false)],
            expected: .good
        ),
    ]

    @Test(arguments: rows)
    func `the list with the highest number or the latest time counts`(row: Row) throws {
        let scene = try RevocationScene()
        let lists = try row.lists.map {
            try scene.list($0.day, revoked: $0.revokes ? -4 : nil, number: $0.number)
        }
        for order in permutations(of: lists) {
            #expect(scene.revocation(order)?.status == row.expected)
            // One list may come with the mail and the others from the store.
            #expect(scene.revocation(Array(order.dropFirst()), extraLists: [order[0]])?.status == row.expected)
        }
        // The same test among a large number of lists.
        let old = try (1...70).map { try scene.list(-10 - Double($0), number: 0) }
        #expect(scene.revocation(old + lists)?.status == row.expected)
        #expect(scene.revocation(lists.reversed() + old)?.status == row.expected)
    }

    @Test func `lists are grouped by the key that signed them, not by the identifier they state`() throws {
        let scene = try RevocationScene()
        let lists = [
            try scene.list(-1, revoked: -4, number: 1), try scene.list(-1, isNamingKey: false, number: 2),
        ]
        for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == .good) }
    }

    @Test func `lists of different scopes do not replace each other, and a revocation in any counts`() throws {
        let scene = try RevocationScene(leaf: ["crlDistributionPoints=URI:http://crl.example/a"])
        let whole = try scene.list(-2, revoked: -4, number: 1)
        let part = try scene.list(-1, point: "http://crl.example/a", number: 2)
        for order in permutations(of: [whole, part]) { #expect(scene.revocation(order)?.status == .revoked) }
    }

    @Test func `at an earlier time the newest list of that time counts`() throws {
        let scene = try RevocationScene()
        let lists = [
            try scene.list(-20, number: 1), try scene.list(-10, revoked: -11, number: 2), try scene.list(-5, number: 3),
        ]
        for order in permutations(of: lists) {
            #expect(scene.revocation(order)?.status == .good)
            #expect(scene.revocation(order, after: -7)?.status == .revoked)
            // The later list says that the leaf was revoked four days after the validation time.
            #expect(scene.revocation(order, after: -15)?.status == .good)
        }
    }

    @Test(
        arguments: [
            ("negative", [2, 1, 0x85]), ("empty", [2, 0]), ("text", [0x0C, 1, 0x39]),
            ("too long", TestDER.element(2, [1] + [UInt8](repeating: 0, count: 21))),
            ("21 octets, none of which is a sign octet", TestDER.element(2, [1] + [UInt8](repeating: 0, count: 20))),
        ] as [(String, [UInt8])]
    )
    func `a malformed list number is ignored, and the time decides`(name: String, value: [UInt8]) throws {
        let scene = try RevocationScene()
        let odd = try scene.list(-2, revoked: -4, extra: [TestDER.listExtension(20, value)])
        let newer = try scene.list(-1, number: 1)
        let older = try scene.list(-3, number: 1)
        for order in permutations(of: [odd, newer]) { #expect(scene.revocation(order)?.status == .good) }
        for order in permutations(of: [odd, older]) { #expect(scene.revocation(order)?.status != .good) }
    }

    @Test(
        arguments: [
            ("with a sign octet", [0] + [UInt8](repeating: 0xFF, count: 20)),
            ("without a sign octet", [0x7F] + [UInt8](repeating: 0xFF, count: 19)),
        ] as [(String, [UInt8])]
    )
    func `a list number of 20 octets counts`(name: String, octets: [UInt8]) throws {
        let scene = try RevocationScene()
        let number = TestDER.listExtension(20, TestDER.element(2, octets))
        let lists = [try scene.list(-2, revoked: -4, extra: [number]), try scene.list(-1, number: 1)]
        for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == .revoked) }
    }

    @Test func `a list number given twice is ignored`() throws {
        let scene = try RevocationScene()
        let twice = try scene.list(-2, revoked: -4, number: 9, extra: [TestDER.listExtension(20, TestDER.integer(8))])
        let newer = try scene.list(-1, number: 1)
        for order in permutations(of: [twice, newer]) { #expect(scene.revocation(order)?.status == .good) }
    }
}

/// All permutations of `items`.
func permutations<Item>(of items: [Item]) -> [[Item]] {
    guard items.count > 1 else { return [items] }
    return items.indices.flatMap { place in
        var rest = items
        let first = rest.remove(at: place)
        return permutations(of: rest).map { [first] + $0 }
    }
}
