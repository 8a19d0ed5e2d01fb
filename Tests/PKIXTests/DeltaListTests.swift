import PKIX
import Testing

/// Delta lists, lists limited to some reasons, and lists by another issuer.
@Suite struct DeltaListTests {
    private static let freshest = ["freshestCRL=URI:http://crl.example/delta"]

    @Test(arguments: [freshest, []])
    func `a delta list revokes, whatever its base`(extensions: [String]) throws {
        let scene = try RevocationScene(leaf: extensions)
        for base in [1, 5, 9] {
            let lists = [try scene.list(-2, number: 5), try scene.list(-1, revoked: -2, number: 10, base: base)]
            for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == .revoked) }
        }
    }

    @Test func `a delta list by itself says that a certificate was revoked, not that it was not`() throws {
        let scene = try RevocationScene()
        #expect(scene.revocation([try scene.list(-1, revoked: -2, number: 6, base: 5)])?.status == .revoked)
        #expect(scene.revocation([try scene.list(-1, number: 6, base: 5)])?.status == .unknown)
    }

    @Test func `a delta list lifts a hold if the certificate announces delta lists`() throws {
        let (hold, remove): (UInt8, UInt8) = (6, 8)
        for (extensions, expected) in [(Self.freshest, ChainVerdict.Revocation.Status.good), ([], .revoked)] {
            let scene = try RevocationScene(leaf: extensions)
            let lists = [
                try scene.list(-3, revoked: -4, number: 5, reason: hold),
                try scene.list(-1, revoked: -4, number: 7, base: 5, reason: remove),
                try scene.list(-2, revoked: -4, number: 6, base: 5, reason: hold),
            ]
            for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == expected) }
        }
    }

    @Test func `a delta list that needs a newer base hides no older one`() throws {
        let scene = try RevocationScene(leaf: Self.freshest)
        let lists = [
            try scene.list(-3, number: 5), try scene.list(-2, revoked: -3, number: 6, base: 5),
            try scene.list(-1, number: 7, base: 6),
        ]
        for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == .revoked) }
    }

    @Test func `a complete list replaces delta lists with a lower number`() throws {
        let scene = try RevocationScene(leaf: Self.freshest)
        let delta = try scene.list(-2, revoked: -3, number: 6, base: 5)
        for (number, expected) in [(7, ChainVerdict.Revocation.Status.good), (6, .good), (5, .revoked)] {
            let lists = [try scene.list(-1, number: number), delta]
            for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == expected) }
        }
        // If lists are equally new, revocation takes precedence.
        let lists = [try scene.list(-2, number: 6), delta]
        for order in permutations(of: lists) { #expect(scene.revocation(order)?.status == .revoked) }
    }

    /// libcrypto 3.0 compares the numbers without checking whether they exist.
    @Test func `a delta list without a number, or without a base, ends nothing`() throws {
        let scene = try RevocationScene(leaf: Self.freshest)
        let base = try scene.list(-3, number: 5)
        let odd = TestDER.listExtension(27, [0x0C, 1, 0x39], isCritical: true)
        for number in [nil, 6] as [Int?] {
            for days in [nil, -2] as [Double?] {
                let lists = [base, try scene.list(-1, revoked: days, number: number, extra: [odd])]
                for order in permutations(of: lists) {
                    #expect(scene.revocation(order)?.status == (days == nil ? .good : .revoked))
                }
                let other = [base, try scene.list(-1, revoked: days, number: nil, base: 5)]
                for order in permutations(of: other) {
                    #expect(scene.revocation(order)?.status == (days == nil ? .good : .revoked))
                }
            }
        }
    }

    @Test func `lists for some reasons prove validity only together, and each revokes by itself`() throws {
        let scene = try RevocationScene()
        /// An IssuingDistributionPoint with onlySomeReasons.
        func reasons(_ bits: [UInt8]) -> [UInt8] {
            TestDER.listExtension(28, TestDER.element(0x30, TestDER.element(0x83, bits)), isCritical: true)
        }
        let (some, others) = (reasons([5, 0x60]), reasons([0, 0x1F, 0x80].map { $0 }))
        let goodSome = try scene.list(-1, number: 1, extra: [some])
        #expect(scene.revocation([goodSome])?.status == .unknown)
        for order in permutations(of: [
            goodSome, try scene.list(-1, number: 2, extra: [others]),
            try scene.list(-2, revoked: -3, number: 1, extra: [others]),
        ]) {
            #expect(scene.revocation(order)?.status != .revoked)
        }
        for order in permutations(of: [goodSome, try scene.list(-1, revoked: -2, number: 1, extra: [others])]) {
            #expect(scene.revocation(order)?.status == .revoked)
        }
        // A delta list that is limited to some reasons is not a complete list.
        let delta = try scene.list(-1, number: 6, base: 5, extra: [reasons([0, 0x7F, 0x80].map { $0 })])
        #expect(scene.revocation([delta])?.status == .unknown)
    }
}
