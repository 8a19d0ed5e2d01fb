import Crypto
import Foundation
import SMIMEGateway
import X509

// The program that scripts/consumers builds with both traits enabled: a store, a gateway, swift-certificates and
// swift-crypto together. X509 also has types named Certificate and EmailAddress; where both modules are imported, those of
// this package are SMIME.Certificate and SMIME.EmailAddress.
// Arguments: the folder `certs`, and a folder that does not exist yet.

struct Failed: Error, CustomStringConvertible {
    let description: String
}

func check(_ isSo: Bool, _ what: String) throws {
    guard isSo else { throw Failed(description: "not so: \(what)") }
}

let certs = CommandLine.arguments[1]
let home = CommandLine.arguments[2]

func fixture(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(certs)/\(path)")) }

func session() async throws {
    // Fill a store and look up certificates.
    let store = try await Store.open(home)
    let own = try await store.add(fixture("alice/alice.p12"), passphrase: "test", trusting: true)
    try check(own.identities.count == 1 && !own.anchors.isEmpty, "Alice's identity and her authority were added")
    _ = try await store.add(fixture("bob/cert.pem"), trusting: true)
    let alice = try SMIME.EmailAddress("alice@example.com")
    let bob = try SMIME.EmailAddress("bob@example.com")
    try check(try await store.recipient(bob) != nil, "Bob has a certificate")
    try check(try await store.allAccounts().map(\.address) == [alice], "Alice has an account")

    // Change its settings and rules, and restore them.
    let rule = Policy.Rule(.global, encrypt: .require)
    try check(try await store.changeRule(rule) == rule, "the rule is told as it was given")
    try check(try await store.allRules() == [rule], "the rule is there")
    try check(try await store.removeRule(for: .global) == rule, "the rule is told when it goes")
    try check(try await store.allRules().isEmpty, "the rule is gone again")
    try await store.changeSetting("filter.tags", to: "on")
    try check(try await store.setting("filter.tags") == "on", "the setting is changed")
    try await store.changeSetting("filter.tags", to: nil)

    // Protect a mail and open it.
    let text = "From: alice@example.com\r\nTo: bob@example.com\r\nSubject: Hello\r\n\r\nGood morning\r\n"
    let mail = try Message(Data(text.utf8))
    let copies = try await store.protect(mail)
    try check(copies.map(\.recipients) == [[bob]], "one copy, for Bob")
    let secret = try await copies[0].message.bytes()
    try check(!String(decoding: secret, as: UTF8.self).contains("Good morning"), "it is encrypted")
    let opened = try await Message(secret).opened(with: store)
    try check(opened.report.status == .valid, "the verdict is valid: \(opened.report.problems)")
    try check(opened.verifiedAuthor == alice, "Alice is its author")
    let plain = try await opened.bytes()
    try check(String(decoding: plain, as: UTF8.self).hasSuffix("Good morning\r\n"), "it says what it said")
    try check(try await store.learn(from: opened).entries.isEmpty, "nothing new is learned from it")
    let archived = try await Message(secret).opened(with: store.keyring())
    try check(archived.report.status == .valid, "a keyring of the store opens it, too")

    // Process outgoing and incoming mail with a gateway.
    let gateway = try await Gateway(store)
    let sender = EnvelopeSender("alice@example.com")
    let decisions = try await gateway.explain(mail, from: sender, to: [bob])
    try check(decisions.count == 1, "a decision for Bob")
    let outgoing = try await gateway.outgoing(mail, from: sender, to: [bob])
    try check(outgoing.map(\.recipients) == [["bob@example.com"]], "one delivery, to Bob")
    let sent = try await outgoing[0].message.bytes()
    try check(!String(decoding: sent, as: UTF8.self).contains("Good morning"), "what the gateway sends is encrypted")
    let incoming = try await gateway.incoming(Message(secret), from: sender, to: ["alice@example.com"])
    try check(incoming.deliveries.map(\.recipients) == [["alice@example.com"]], "one delivery, to Alice")
    try await store.finish()

    // A store whose passphrase comes from a closure, and a custom source of keys.
    let asked = try await Store.open(home, mode: .readOnly) { Passphrase("not needed".utf8) }
    try check(try await asked.allAnchors().isEmpty == false, "the anchors are there")
    try await asked.finish()

    // Convert a certificate and a key to swift-certificates and swift-crypto and back.
    let identity = try Identity(pkcs12: fixture("p384/p384.p12"), passphrase: "test")
    let certificate = try X509.Certificate(derEncoded: identity.certificate.der)
    let key = try identity.key.withPKCS8 { bytes in
        try P384.Signing.PrivateKey(derRepresentation: bytes.withUnsafeBytes { Data($0) })
    }
    try check(certificate.publicKey == X509.Certificate.PublicKey(key.publicKey), "one key in both")
    let back = try Identity(
        certificate: SMIME.Certificate(fixture("p384/cert.pem")),
        key: SMIME.PrivateKey(pkcs8: key.derRepresentation)
    )
    try check(back.certificate == identity.certificate, "the same identity")
}

try await session()
