import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import Testing

@Suite struct PolicyDecisionTests {
    private func decision(
        _ rules: [Policy.Rule] = [],
        message: ProtectionRequest = ProtectionRequest(),
        flags: ProtectionRequest = ProtectionRequest(),
        protection: ExistingProtection = .unprotected,
        isReader: Bool = false,
        kind: Policy.Kind? = nil,
        signing: Availability = .usable,
        encryption: Availability = .usable
    ) throws -> PolicyDecision {
        let bob = try EmailAddress("bob@dept.example.org")
        let question = PolicyQuestion(
            sender: try EmailAddress("office@example.com"),
            account: try EmailAddress("alice@example.com"),
            rules: rules,
            flags: flags,
            message: message,
            kind: kind,
            protection: protection,
            readers: isReader ? [bob] : [],
            signing: signing,
            encryption: [bob: encryption]
        )
        return PolicyDecision(for: bob, question)
    }

    private func recipient(_ pattern: String) throws -> Policy.Scope {
        .recipient(try #require(Policy.Pattern(pattern)))
    }
    private func sender(_ pattern: String) throws -> Policy.Scope { .sender(try #require(Policy.Pattern(pattern))) }
    private let none = Availability.missing(why: "none is known")

    @Test func `without rules mail gets the protection that is possible`() throws {
        #expect(try decision().action == .signAndEncrypt)
        #expect(try decision(signing: none).action == .encrypt)
        #expect(try decision(encryption: none).action == .sign)
        #expect(try decision(signing: none, encryption: none).action == .plain)
    }

    @Test func `a rule for an alias precedes one for its account, and that one for the domain`() throws {
        let domain = Policy.Rule(try sender("@example.com"), encrypt: .never)
        let account = Policy.Rule(try sender("alice@example.com"), encrypt: .require)
        let alias = Policy.Rule(try sender("OFFICE@example.com"), encrypt: .available)
        #expect(try decision([domain]).encrypt == .never)
        #expect(try decision([domain, account]).encrypt == .require)
        #expect(try decision([domain, account, alias]).encrypt == .available)
    }

    @Test func `a rule without a level for signing or encryption leaves it to the next rule`() throws {
        let bob = Policy.Rule(try recipient("bob@dept.example.org"), sign: .never)
        let below = Policy.Rule(try recipient("*.example.org"), sign: .require, encrypt: .require)
        let found = try decision([bob, below])
        #expect((found.sign, found.encrypt, found.action) == (.never, .require, .encrypt))
    }

    @Test func `a rule for a domain does not apply to its subdomains, nor the reverse`() throws {
        #expect(try decision([Policy.Rule(try recipient("example.org"), encrypt: .never)]).encrypt == .available)
        #expect(try decision([Policy.Rule(try recipient("*.dept.example.org"), encrypt: .never)]).encrypt == .available)
        #expect(try decision([Policy.Rule(try recipient("*.org"), encrypt: .never)]).encrypt == .never)
    }

    @Test func `an override limit applies only to what its rule decides`() throws {
        let rule = Policy.Rule(try recipient("dept.example.org"), encrypt: .require, override: .stricter)
        let found = try decision([rule], message: ProtectionRequest(sign: .never, encrypt: .never))
        #expect((found.sign, found.encrypt) == (.never, .require))
        #expect(found.reasons.contains("encrypt=never in the message is ignored: override stricter"))
    }

    @Test func `a global override limit applies to the built-in levels`() throws {
        let rule = Policy.Rule(.global, override: .nothing)
        #expect(try decision([rule], message: ProtectionRequest(encrypt: .never)).encrypt == .available)
        #expect(try decision([rule], flags: ProtectionRequest(encrypt: .never)).encrypt == .never)
    }

    @Test func `the closest rule with a missing-setting decides between bounce and deferral`() throws {
        let require = Policy.Rule(try recipient("bob@dept.example.org"), encrypt: .require)
        #expect(try decision([require], encryption: none).action == .bounce)
        let patient = Policy.Rule(.global, missing: .deferral)
        #expect(try decision([require, patient], encryption: none).action == .deferral)
        let found = try decision([require], encryption: none)
        #expect(found.unmetRequirements == ["no usable certificate for bob@dept.example.org (none is known)"])
    }

    @Test func `protected mail is sent unchanged unless it lacks required encryption`() throws {
        let require = Policy.Rule(.global, encrypt: .require)
        #expect(try decision([require], protection: .encrypted, isReader: true).action == .plain)
        #expect(try decision(protection: .encrypted, encryption: none).action == .plain)
        #expect(try decision(protection: .signed).action == .plain)
        #expect(try decision([require], protection: .signed).action == .encrypt)
        #expect(try decision([require], protection: .signed, encryption: none).action == .bounce)
    }

    @Test func `encrypted mail satisfies require only for recipients whose certificates it names`() throws {
        let require = Policy.Rule(.global, encrypt: .require)
        let resign = Policy.Rule(.global, encrypt: .require, protected: .resign)
        let late = Policy.Rule(.global, encrypt: .require, missing: .deferral)
        let found = try decision([require], protection: .encrypted)
        #expect(found.action == .bounce)
        #expect(
            found.unmetRequirements == [
                "the message is encrypted already, but not to a certificate in use for bob@dept.example.org"
            ]
        )
        #expect(try decision([resign], protection: .encrypted).action == .bounce)
        #expect(try decision([resign], protection: .encrypted, isReader: true).action == .sign)
        #expect(try decision([late], protection: .encrypted).action == .deferral)
        #expect(try decision([require], protection: .encrypted, kind: .bounce).action == .deferral)
        #expect(try decision([require], protection: .encrypted, encryption: none).action == .bounce)
        let unknown = Availability.unknown(why: "the folder is away")
        #expect(try decision([require], protection: .encrypted, encryption: unknown).action == .deferral)
    }

    @Test func `a required level is lowered only if its rule permits that`() throws {
        let none = ProtectionRequest(sign: .never, encrypt: .never)
        let bob = try recipient("bob@dept.example.org")
        let both = Policy.Rule(bob, sign: .require, encrypt: .require)
        #expect(try decision([both], message: none).action == .signAndEncrypt)
        #expect(try decision([both.merging(Policy.Rule(bob, override: .any))], message: none).action == .plain)
        // Each level of the rule has its own default.
        let one = Policy.Rule(bob, sign: .available, encrypt: .require)
        #expect(try decision([one], message: none).action == .encrypt)
        #expect(
            try decision([both], message: none).reasons.contains(
                "encrypt=never in the message is ignored: override stricter, the default of require"
            )
        )
    }

    @Test(arguments: [Policy.Kind.automatic, .list])
    func `the kind of a message lowers no level that a message may not lower`(_ kind: Policy.Kind) throws {
        let less = Policy.Rule(.kind(kind), sign: .never, encrypt: .never)
        for bound in [Policy.Override.stricter, .nothing] {
            let global = Policy.Rule(.global, sign: .available, encrypt: .available, override: bound)
            #expect(try decision([global, less], kind: kind).action == .signAndEncrypt)
            #expect(try decision([global], kind: kind).action == .signAndEncrypt)
        }
        #expect(try decision([less], kind: kind).action == .plain)
        let stricter = Policy.Rule(.global, override: .stricter)
        #expect(
            try decision([stricter, Policy.Rule(.kind(.bounce), encrypt: .never)], kind: .bounce).action == .encrypt
        )
        #expect(try decision([less, Policy.Rule(.global, sign: .require)], kind: kind).action == .sign)
    }

    @Test func `protected mail that is passed on is distinguished from clear mail`() throws {
        #expect(try decision(protection: .encrypted).isPassed)
        #expect(try decision(protection: .signed).isPassed)
        #expect(try !decision(signing: none, encryption: none).isPassed)
        let require = Policy.Rule(.global, encrypt: .require)
        #expect(try !decision([require], protection: .signed, encryption: none).isPassed)
    }

    @Test func `mail to be encrypted is deferred while it is unknown whether a certificate exists`() throws {
        let unknown = Availability.unknown(why: "the folder is away")
        let require = Policy.Rule(.global, encrypt: .require)
        let found = try decision(encryption: unknown)
        #expect(found.action == .deferral)
        #expect(found.unmetRequirements == ["no usable certificate for bob@dept.example.org (the folder is away)"])
        #expect(try decision([require], encryption: unknown).action == .deferral)
        #expect(try decision([Policy.Rule(.global, encrypt: .never)], encryption: unknown).action == .sign)
        #expect(try decision(protection: .encrypted, encryption: unknown).action == .plain)
        // It is certain that the message cannot be signed.
        #expect(
            try decision(flags: ProtectionRequest(sign: .require), signing: none, encryption: unknown).action == .bounce
        )
    }

    @Test func `while a remote source is down only mail that must be encrypted waits`() throws {
        let unreached = Availability.unreached(why: "the directory is down")
        let require = Policy.Rule(.global, encrypt: .require)
        let found = try decision([require], encryption: unreached)
        #expect(found.action == .deferral)
        #expect(found.unmetRequirements == ["no usable certificate for bob@dept.example.org (the directory is down)"])
        #expect(try decision([require], protection: .encrypted, encryption: unreached).action == .deferral)
        let sent = try decision(encryption: unreached)
        #expect(sent.action == .sign && sent.unmetRequirements.isEmpty)
        #expect(
            sent.warnings == [
                "not encrypted: no usable certificate for bob@dept.example.org (the directory is down)"
            ]
        )
        #expect(try decision([Policy.Rule(.global, encrypt: .never)], encryption: unreached).warnings.isEmpty)
    }

    @Test func `a warning says when a known but unusable certificate lowers the protection`() throws {
        let expired = Availability.unusable(why: "expired on 2026-10-01")
        let found = try decision(signing: expired, encryption: expired)
        #expect(found.action == .plain)
        #expect(
            found.warnings == [
                "not signed: no usable identity to sign with for office@example.com (expired on 2026-10-01)",
                "not encrypted: no usable certificate for bob@dept.example.org (expired on 2026-10-01)",
            ]
        )
        #expect(try decision(signing: none, encryption: none).warnings.isEmpty)
        #expect(try decision(protection: .encrypted, encryption: expired).warnings.isEmpty)
        #expect(try decision([Policy.Rule(.global, encrypt: .require)], encryption: expired).action == .bounce)
    }

    @Test(arguments: [
        ("encrypt=require; sign=never", Policy.Level.never, Policy.Level.require),
        ("SIGN = \"Required\" ,Encrypt=off;", .require, .never),
        ("encrypt", nil, .require),
        ("encrypt=never; encrypt=require", nil, .require),
        ("encrypt=nevr", nil, .require),
        ("encrypt=", nil, .require),
        (";;=; = ;", nil, nil),
        ("colour=blue", .require, .require),
        ("", nil, nil),
        ("require", .require, .require),
        ("encrypt: require", nil, .require),
        ("encrypt=available\r\n\tsign=yes", .require, .available),
    ])
    func `a protection request is read leniently, and strictly in doubt`(
        _ text: String,
        _ sign: Policy.Level?,
        _ encrypt: Policy.Level?
    ) {
        #expect(ProtectionRequest(parsing: text) == ProtectionRequest(sign: sign, encrypt: encrypt))
    }
}
