import ByteStreams
import Foundation
import GRDB
import PKIX
import SMIMEStore
import TestSupport
import Testing

/// A fetched list replaces earlier ones, so that the store does not grow with every fetch.
@Suite struct RevocationListTests {
    /// Lists in the order of fetching, and those that remain on the last day. Days are counted from 1 January.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lists: [(name: String, first: Int, last: Int, extensions: [String])]
        /// The CRL Numbers by list name; 1 for lists without an entry.
        var numbers: [String: String] = [:]
        var isFetched = true
        let expected: [String]
    }

    private static let scope = ["issuingDistributionPoint=critical,@idp"]
    private static let delta = ["2.5.29.27=critical,DER:020101"]

    static let rows = [
        Row(
            testDescription: "what is over goes when a newer one comes",
            lists: [("a", 1, 3, []), ("b", 4, 6, []), ("c", 7, 9, [])],
            expected: ["c"]
        ),
        Row(
            testDescription: "current lists stay",
            lists: [("a", 1, 30, []), ("b", 4, 9, [])],
            expected: ["a", "b"]
        ),
        Row(
            testDescription: "what is over and newer stays",
            lists: [("a", 4, 6, []), ("b", 1, 3, [])],
            expected: ["a", "b"]
        ),
        Row(
            testDescription:
                "what is over and has the higher number stays, as it may revoke what the current one does not",
            lists: [("a", 1, 3, []), ("b", 4, 20, [])],
            numbers: ["a": "09"],
            expected: ["a", "b"]
        ),
        Row(
            testDescription: "what is over goes when a current one with a higher number comes",
            lists: [("a", 1, 3, []), ("b", 4, 20, []), ("c", 5, 20, [])],
            numbers: ["a": "09", "c": "0A"],
            expected: ["b", "c"]
        ),
        Row(
            testDescription: "what is about other certificates stays",
            lists: [("a", 1, 3, scope), ("b", 4, 9, [])],
            expected: ["a", "b"]
        ),
        Row(
            testDescription: "what is about the same certificates goes",
            lists: [("a", 1, 3, scope), ("b", 4, 9, scope)],
            expected: ["b"]
        ),
        Row(
            testDescription: "a list of changes takes no whole one's place, and one of its own kind's",
            lists: [("a", 1, 3, []), ("b", 1, 3, delta), ("c", 4, 9, delta)],
            expected: ["a", "c"]
        ),
        Row(
            testDescription: "nothing is removed for a list that an attacker may have made",
            lists: [("a", 1, 3, []), ("b", 4, 9, [])],
            isFetched: false,
            expected: ["a", "b"]
        ),
    ]

    @Test(arguments: rows)
    func `a stored revocation list is replaced only by a newer one`(row: Row) async throws {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        // Another authority with the name and the key identifier of the first one.
        let key = try #require(factory.certificate("ca").subjectKeyIdentifier)
        let extensions = CertificateFactory.authority + ["subjectKeyIdentifier=\(key.hexadecimal)"]
        try factory.issue("other", subject: "/CN=CA", extensions: extensions)
        let home = try TemporaryHome()
        let store = try await home.open()
        // A list by another key with the same name, and a list without nextUpdate.
        let stranger = try list("stranger", by: "other", (1, 3, []), factory: factory)
        try await add(stranger, isFetched: true, factory: factory, to: store)
        for item in row.lists {
            if let number = row.numbers[item.name] { try factory.sh("echo \(number) >\(item.name).number") }
            let list = try list(item.name, by: "ca", (item.first, item.last, item.extensions), factory: factory)
            try await add(list, isFetched: row.isFetched, factory: factory, to: store)
        }
        let names = try (["stranger"] + row.lists.map(\.name)).map { name in
            (name, try CertificateList(der: factory.bytes("\(name).crl")).fingerprint.bytes)
        }
        let kept = try await store.anchors.revocationLists().map(\.fingerprint.bytes)
        #expect(names.filter { kept.contains($0.1) }.map(\.0) == ["stranger"] + row.expected)
        #expect(try await store.check().isEmpty)
    }

    @Test func `an imported list is not removed, although it was fetched before`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let home = try TemporaryHome()
        let store = try await home.open()
        let first = try list("a", by: "ca", (1, 3, []), factory: factory)
        for isFetched in [true, false] { try await add(first, isFetched: isFetched, factory: factory, to: store) }
        let second = try list("b", by: "ca", (4, 6, []), factory: factory)
        try await add(second, isFetched: true, factory: factory, to: store)
        #expect(try await Set(store.anchors.revocationLists()) == [first, second])
    }

    @Test func `only so many fetched lists by one key are stored`() async throws {
        var factory = try CertificateFactory()
        try factory.issue("ca", subject: "/CN=CA", extensions: CertificateFactory.authority)
        let ca = try factory.certificate("ca")
        let lists = try (0..<258).map { number in
            let point = "[idp]\nfullname=dirName:point\n[point]\nCN=\(number)"
            let extensions = ["issuingDistributionPoint=critical,@idp"]
            try factory.revoke([], by: "ca", to: "list\(number)", extensions: extensions, sections: point)
            return FetchedList(list: try CertificateList(der: factory.bytes("list\(number).crl")), issuer: ca)
        }
        let home = try TemporaryHome()
        let store = try await home.open()
        var batch = ImportBatch()
        (batch.fetchedLists, batch.crls) = (Array(lists.prefix(257)), [lists[257].list])
        _ = try await store.add(batch, at: .now)
        let kept = try await Set(store.anchors.revocationLists())
        #expect(kept == Set(lists.prefix(256).map(\.list) + [lists[257].list]))
    }

    private func list(
        _ name: String,
        by issuer: String,
        _ terms: (first: Int, last: Int, extensions: [String]),
        factory: borrowing CertificateFactory
    ) throws -> CertificateList {
        func time(_ day: Int) -> String { "202601\(day < 10 ? "0" : "")\(day)000000Z" }
        try factory.revoke(
            [],
            by: issuer,
            to: name,
            extensions: terms.extensions,
            sections: "[idp]\nfullname=URI:http://crl.test/part.crl",
            options: "-crl_lastupdate \(time(terms.first)) -crl_nextupdate \(time(terms.last))"
        )
        return try CertificateList(der: factory.bytes("\(name).crl"))
    }

    private func add(
        _ list: CertificateList,
        isFetched: Bool,
        factory: borrowing CertificateFactory,
        to store: Store
    ) async throws {
        var batch = ImportBatch()
        if isFetched {
            let ca = try factory.certificate("ca")
            let signer = list.isSigned(by: ca) ? ca : try factory.certificate("other")
            batch.fetchedLists = [.init(list: list, issuer: signer)]
        } else {
            batch.crls = [list]
        }
        // 10 January.
        _ = try await store.add(batch, at: try Date("2026-01-10T00:00:00Z", strategy: .iso8601))
    }
}
