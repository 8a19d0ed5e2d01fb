import PKIX
import TestSupport
import Testing

/// Indirect revocation lists, which may cover the certificates of several issuers (RFC 5280 §5.2.5, §5.3.3).
@Suite struct IndirectListTests {
    /// An issuing distribution point with indirectCRL only.
    private static let indirect = TestDER.listExtension(
        28,
        TestDER.element(0x30, [0x84, 1, 0xFF]),
        isCritical: true
    )

    @Test func `an indirect list by the issuer itself revokes its certificates`() throws {
        let scene = try RevocationScene()
        let list = try scene.list(-1, revoked: -2, number: 1, extra: [Self.indirect])
        #expect(scene.revocation([list])?.status == .revoked)
    }

    @Test func `an indirect list never makes a revoked certificate good, whatever its number`() throws {
        let scene = try RevocationScene()
        let direct = try scene.list(-3, revoked: -4, number: 1)
        for isGenuine in [true, false] {
            let indirect = try scene.list(-1, number: 9, extra: [Self.indirect], isGenuine: isGenuine)
            for order in permutations(of: [direct, indirect]) {
                #expect(scene.revocation(order)?.status == .revoked)
                #expect(scene.revocation([order[0]], extraLists: [order[1]])?.status == .revoked)
            }
        }
    }

    @Test func `an indirect list signed by another issuer is ignored`() throws {
        let scene = try RevocationScene()
        for revoked in [nil, -2.0] {
            let list = try scene.list(-1, revoked: revoked, number: 1, extra: [Self.indirect], isGenuine: false)
            #expect(scene.revocation([list])?.status == .unknown)
        }
    }

    /// The entry has the leaf's serial number but belongs to a certificate of another authority.
    @Test func `an entry for another issuer does not make the list complete for the leaf`() throws {
        let scene = try RevocationScene()
        let list = try scene.list(-1, revoked: -2, number: 1, entryIssuer: scene.root, extra: [Self.indirect])
        let found = try #require(scene.revocation([list])?.status)
        #expect(found != .revoked, "the entry is about another certificate")
        let direct = try scene.list(-3, revoked: -4, number: 1)
        for order in permutations(of: [direct, list]) { #expect(scene.revocation(order)?.status == .revoked) }
    }
}
