import Foundation
import PKIX
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// Mail to recipients whose certificates are in SMIMEA records (RFC 8162).
@Suite(.startsServer(.bind)) struct SMIMEAMailTests {
    /// The name of a record, relative to the zone: the first 28 octets of the digest of the local part (RFC 8162 §3).
    private static func name(_ localPart: String) throws -> String {
        let digest = try DigestAlgorithm.sha256.digest(Array(localPart.utf8))
        let digits = digest.prefix(28).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return digits.joined() + "._smimecert"
    }

    /// The record with the whole certificate of `person`.
    private static func record(
        _ localPart: String,
        usage: UInt8,
        of person: String
    ) throws -> (name: String, data: [UInt8]) {
        (try name(localPart), [usage, 0, 0] + (try Certificate(fixture: "\(person)/cert.pem").der))
    }

    @Test func `mail is encrypted to what a signed zone has, and waits while it is away if it must be`() async throws {
        let office = try await TestHome.office(knowing: [])
        let settings = office.store.settings
        let digest = try DigestAlgorithm.sha256.digest(Certificate(fixture: "p521/cert.pem").der)
        var server: NameServer? = try NameServer([
            try Self.record("carol", usage: 3, of: "carol"),
            try Self.record("bob", usage: 1, of: "bob"),
            // Usage 0 (PKIX-TA) is for an authority, but this is a person's certificate.
            try Self.record("p384", usage: 0, of: "p384"),
            // The certificate is for another address.
            try Self.record("eve", usage: 3, of: "carol"),
            // A digest is no certificate.
            (try Self.name("p521"), [3, 0, 1] + digest),
        ])
        try await settings.set("lookup.smimea", to: "on")
        try await settings.set("lookup.smimea.timeout", to: "30s")
        try await settings.set("lookup.budget", to: "60s")
        try await settings.set("lookup.smimea.resolver", to: server?.address)
        try await settings.set("lookup.smimea.trust-anchor", to: server?.anchors)

        func actions(_ recipient: String) async throws -> [PolicyDecision.Action] {
            try await office.plan(from: "alice@example.com", to: [recipient]).decisions.map(\.action)
        }
        for person in ["carol", "bob"] {
            let found = try await office.plan(from: "alice@example.com", to: ["\(person)@example.com"])
            #expect(found.decisions.map(\.action) == [.signAndEncrypt], "\(person)")
            #expect(found.sources.values.map(\.rawValue) == ["smimea"])
        }
        for person in ["p384", "eve", "p521", "nobody"] {
            #expect(try await actions("\(person)@example.com") == [.sign], "\(person)")
        }
        // The zone has the same record, but is not signed.
        #expect(try await actions("carol@unsigned.example.net") == [.sign])
        server = nil
        // Answers are cached; addresses that have not been looked up are unknown.
        #expect(try await actions("carol@example.com") == [.signAndEncrypt])
        _ = try await office.store.policy.set(Policy.Rule(.global, encrypt: .require))
        #expect(try await actions("frank@example.com") == [.deferral])
    }
}
