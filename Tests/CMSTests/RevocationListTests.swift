import CMS
import Foundation
import TestSupport
import Testing

/// Very many revocation lists, and lists of a later time.
@Suite struct RevocationListTests {
    /// root, ca below it, and leaf below that; and another authority of ca's name and key identifier.
    private struct Scene {
        let root, ca, leaf, decoy: Certificate
        let key, decoyKey: PrivateKey
        let now: Date

        init(leaf extensions: [String] = []) throws {
            var factory = try CertificateFactory()
            try factory.issue("root", subject: "/CN=Root", extensions: CertificateFactory.authority)
            try factory.issue("ca", subject: "/CN=CA", by: "root", extensions: CertificateFactory.authority)
            try factory.issue("decoy", subject: "/CN=CA", extensions: CertificateFactory.authority)
            let person = CertificateFactory.person("a@example.com") + extensions
            try factory.issue("leaf", subject: "/CN=leaf", by: "ca", extensions: person)
            func read(_ name: String) throws -> Certificate {
                guard case .certificate(let found) = try KeyMaterial.read(factory.bytes("\(name).pem")).first else {
                    throw CMSError.noKeyPair
                }
                return found
            }
            (root, ca, leaf, decoy) = (try read("root"), try read("ca"), try read("leaf"), try read("decoy"))
            key = try PrivateKey(pem: factory.bytes("ca.key"), passphrase: nil)
            decoyKey = try PrivateKey(pem: factory.bytes("decoy.key"), passphrase: nil)
            now = leaf.notBefore.addingTimeInterval(3600)
        }

        /// What a list by ca, or by the decoy, says `days` from now; with `revoked`, that the leaf was revoked so many days
        /// from now.
        func list(
            _ days: Double,
            revoked: Double? = nil,
            lasting: Double = 400,
            point: String? = nil,
            identifier: [UInt8]? = nil,
            isGenuine: Bool = true
        ) throws -> CertificateList {
            func time(_ days: Double) -> [UInt8] {
                let text = now.addingTimeInterval(days * 86_400).formatted(.iso8601).filter(\.isNumber) + "Z"
                return TestDER.element(0x18, Array(text.utf8))
            }
            let algorithm: [UInt8] = [0x30, 0x0A, 0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
            let entry = revoked.map { TestDER.element(0x30, TestDER.element(2, leaf.serialNumber), time($0)) }
            let keyIdentifier = identifier ?? ca.subjectKeyIdentifier ?? []
            var extensions = TestDER.element(
                0x30,
                [6, 3, 0x55, 0x1D, 0x23],
                TestDER.element(4, TestDER.element(0x30, TestDER.element(0x80, keyIdentifier)))
            )
            if let point {
                let names = TestDER.element(0xA0, TestDER.element(0xA0, TestDER.element(0x86, Array(point.utf8))))
                extensions += TestDER.element(
                    0x30,
                    [6, 3, 0x55, 0x1D, 0x1C],
                    [1, 1, 0xFF],
                    TestDER.element(4, TestDER.element(0x30, names))
                )
            }
            let signed = TestDER.element(
                0x30,
                [2, 1, 1],
                algorithm,
                ca.subject.der,
                time(days),
                time(days + lasting),
                entry.map { TestDER.element(0x30, $0) } ?? [],
                TestDER.element(0xA0, TestDER.element(0x30, extensions))
            )
            let signature = try (isGenuine ? key : decoyKey).handle.sign(message: signed)
            let der = TestDER.element(0x30, signed, algorithm, TestDER.element(3, [0], signature))
            return try CertificateList(der: der)
        }

        /// What is known of the leaf, whose issuer is the anchor unless the decoy is to have a chance.
        func revocation(
            _ lists: [CertificateList],
            extra: [Certificate] = [],
            after days: Double = 0
        ) -> ChainVerdict.Revocation? {
            var store = TrustStore(anchors: [ca])
            store.certificateLists = lists
            let date = now.addingTimeInterval(days * 86_400)
            return store.judge(leaf, extra: extra, purpose: .signing, at: date).revocation
        }
    }

    @Test func `of a hundred daily lists the newest counts, wherever it stands`() throws {
        let scene = try Scene()
        let old = try (1...100).map { try scene.list(-Double($0)) }
        let new = try scene.list(-0.5, revoked: -0.6)
        for lists in [old + [new], [new] + old, old.reversed() + [new]] {
            #expect(scene.revocation(lists)?.status == .revoked)
        }
        #expect(scene.revocation(old)?.status == .good)
        #expect(scene.revocation(old)?.problems == [])
        // Those of later do not hide what held before.
        let later = try (1...100).map { try scene.list(Double($0)) }
        #expect(scene.revocation(later + [new])?.status == .revoked)
    }

    @Test func `of a hundred parts of a list the one that is the certificate's counts`() throws {
        for place in [0, 50, 99] {
            let scene = try Scene(leaf: ["crlDistributionPoints=URI:http://crl.example/\(place)"])
            let lists = try (0..<100).map { number in
                let point = "http://crl.example/\(number)"
                return try scene.list(-1, revoked: number == place ? -2 : nil, point: point)
            }
            #expect(scene.revocation(lists)?.status == .revoked)
        }
    }

    @Test func `more lists than are looked at are an error`() throws {
        let scene = try Scene()
        // Each by a key of its own, if one believes them: none says what another says.
        let lists = try (0..<70).map { try scene.list(-1, identifier: [UInt8($0)]) }
        let problems = scene.revocation(lists)?.problems ?? []
        #expect(problems.contains { $0.code == "revocation-unknown" && $0.level == .error })
    }

    @Test func `another authority of the same name hides no list`() throws {
        let scene = try Scene()
        let genuine = try scene.list(-100, revoked: -101)
        let decoys = try (0..<100).map { try scene.list(-Double($0) / 10, isGenuine: false) }
        let revocation = scene.revocation(decoys + [genuine], extra: [scene.decoy])
        #expect(revocation?.status == .revoked || revocation?.problems.contains { $0.level == .error } == true)
    }

    @Test func `who is on a list of later was revoked then already, and who is not on it is not known to be good`()
        throws
    {
        let scene = try Scene()
        #expect(scene.revocation([try scene.list(10, revoked: -1)])?.status == .revoked)
        #expect(scene.revocation([try scene.list(10, revoked: 5)])?.status == .unknown)
        #expect(scene.revocation([try scene.list(10)])?.status == .unknown)
        #expect(scene.revocation([try scene.list(10, revoked: 5)], after: 20)?.status == .revoked)
        #expect(scene.revocation([try scene.list(-1), try scene.list(10, revoked: -2)])?.status == .revoked)
        #expect(scene.revocation([try scene.list(-1), try scene.list(10, revoked: 5)])?.status == .good)
    }
}

/// DER written by hand.
enum TestDER {
    static func element(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let contents = parts.flatMap(\.self)
        guard contents.count > 127 else { return [tag, UInt8(contents.count)] + contents }
        let length = withUnsafeBytes(of: contents.count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(length.count)] + length + contents
    }
}
