import Foundation
import PKIX
import TestSupport
import Testing

/// A large number of revocation lists, and lists issued after the validation time.
@Suite struct RevocationListTests {
    @Test func `of a hundred daily lists the newest counts, in any order`() throws {
        let scene = try RevocationScene()
        let old = try (1...100).map { try scene.list(-Double($0)) }
        let new = try scene.list(-0.5, revoked: -0.6)
        for lists in [old + [new], [new] + old, old.reversed() + [new]] {
            #expect(scene.revocation(lists)?.status == .revoked)
        }
        #expect(scene.revocation(old)?.status == .good)
        #expect(scene.revocation(old)?.problems == [])
        // Later lists do not hide an earlier revocation.
        let later = try (1...100).map { try scene.list(Double($0)) }
        #expect(scene.revocation(later + [new])?.status == .revoked)
    }

    @Test func `of a hundred partial lists the one for the certificate's distribution point counts`() throws {
        for place in [0, 50, 99] {
            let scene = try RevocationScene(leaf: ["crlDistributionPoints=URI:http://crl.example/\(place)"])
            let lists = try (0..<100).map { number in
                let point = "http://crl.example/\(number)"
                return try scene.list(-1, revoked: number == place ? -2 : nil, point: point)
            }
            #expect(scene.revocation(lists)?.status == .revoked)
        }
    }

    @Test func `more lists than the limit are an error`() throws {
        let scene = try RevocationScene()
        // Each list is for another distribution point, named by a directory name, so no list can replace another.
        let lists = try (0..<70).map { number in
            let attribute = TestDER.element(0x30, [6, 3, 0x55, 4, 3], TestDER.element(12, Array("\(number)".utf8)))
            let name = TestDER.element(0x30, TestDER.element(0x31, attribute))
            let point = TestDER.element(0xA0, TestDER.element(0xA0, TestDER.element(0xA4, name)))
            let extra = TestDER.listExtension(28, TestDER.element(0x30, point), isCritical: true)
            return try scene.list(-1, extra: [extra])
        }
        let revocation = scene.revocation(lists)
        #expect(revocation?.problems.contains { $0.code == "revocation-unknown" && $0.level == .error } == true)
        #expect(revocation?.isCutShort == true)
    }

    @Test(arguments: [(RevocationPolicy.soft, "crl-unreadable"), (.hard, "revocation-unknown")])
    func `every sentence about unreadable lists is reported`(policy: RevocationPolicy, code: String) throws {
        let scene = try RevocationScene()
        var options = ValidationOptions(revocation: policy)
        options.unreadableLists = ["the folder cannot be read"]
        var store = TrustStore(anchors: [scene.ca]).judging(by: options)
        store.unreadableLists = ["a list of the store cannot be read"]
        let revocation = store.judge(scene.leaf, purpose: .signing, at: scene.now).revocation
        let texts = revocation?.problems.filter { $0.code == code }.map(\.text) ?? []
        #expect(texts.suffix(2) == ["a list of the store cannot be read", "the folder cannot be read"], "\(texts)")
    }

    @Test func `an entry by the issuer counts, whatever else is in the list`() throws {
        let scene = try RevocationScene()
        // An unknown critical extension, and a distribution point that the certificate does not name.
        let name = TestDER.element(0xA0, TestDER.element(0xA0, TestDER.element(0x86, Array("http://x.test/".utf8))))
        let extras = [
            TestDER.listExtension(99, [5, 0], isCritical: true),
            TestDER.listExtension(28, TestDER.element(0x30, name), isCritical: true),
        ]
        for extra in extras {
            let revoking = try scene.list(-1, revoked: -2, extra: [extra])
            #expect(scene.revocation([revoking])?.status == .revoked)
            #expect(scene.revocation([revoking, try scene.list(-3)])?.status == .revoked)
            #expect(scene.revocation([try scene.list(-1, extra: [extra])])?.status == .unknown)
        }
    }

    @Test func `a list by another authority of the same name hides no list`() throws {
        let scene = try RevocationScene()
        let genuine = try scene.list(-100, revoked: -101)
        let decoys = try (0..<100).map { try scene.list(-Double($0) / 10, isGenuine: false) }
        let revocation = scene.revocation(decoys + [genuine], extra: [scene.decoy])
        #expect(revocation?.status == .revoked || revocation?.problems.contains { $0.level == .error } == true)
    }

    @Test func `an entry on a later list counts from its date, and a missing entry proves nothing`()
        throws
    {
        let scene = try RevocationScene()
        #expect(scene.revocation([try scene.list(10, revoked: -1)])?.status == .revoked)
        #expect(scene.revocation([try scene.list(10, revoked: 5)])?.status == .unknown)
        #expect(scene.revocation([try scene.list(10)])?.status == .unknown)
        #expect(scene.revocation([try scene.list(10, revoked: 5)], after: 20)?.status == .revoked)
        #expect(scene.revocation([try scene.list(-1), try scene.list(10, revoked: -2)])?.status == .revoked)
        #expect(scene.revocation([try scene.list(-1), try scene.list(10, revoked: 5)])?.status == .good)
    }
}
