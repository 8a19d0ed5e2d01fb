import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport
import Testing

/// Properties that hold for every policy and message, tested with many random ones.
@Suite struct PolicyPropertyTests {
    private func forAll(_ body: (inout SeededGenerator, EmailAddress, PolicyQuestion) throws -> Void) throws {
        for seed in 0..<2_000 {
            var generator = SeededGenerator(seed)
            let (recipient, question) = try generator.question()
            try body(&generator, recipient, question)
        }
    }

    @Test func `required encryption never results in clear mail`() throws {
        var (kept, encrypted) = (0, 0)
        try forAll { _, recipient, question in
            let decision = PolicyDecision(for: recipient, question)
            guard decision.encrypt == .require, question.protection != .encrypted else { return }
            switch decision.action {
            case .encrypt, .signAndEncrypt:
                #expect(question.encryption[recipient] == .usable)
                encrypted += 1
            case .bounce, .deferral:
                #expect(!decision.unmetRequirements.isEmpty)
                kept += 1
            case .plain, .sign:
                Issue.record("\(decision)")
            }
        }
        #expect(kept > 50 && encrypted > 50)
    }

    @Test func `a rule with require is met, whatever the message is or requests`() throws {
        var met: [PolicyDecision.Action: Int] = [:]
        try forAll { generator, recipient, question in
            var question = question
            (question.flags, question.message, question.kind) = (ProtectionRequest(), ProtectionRequest(), nil)
            let address = Self.ways(to: recipient).randomElement(using: &generator)
            let way = try #require(address.flatMap { try? EmailAddress($0) })
            let rule = Oracle(recipient, question).closest { $0.encrypt != nil }
            guard rule?.encrypt == .require, rule?.override != .any else { return }
            question.message = generator.request()
            question.kind = generator.maybe(Policy.Kind.allCases)
            question.isSenderClaimed = question.kind == .bounce
            question.encryption[way] = generator.availability()
            let decision = PolicyDecision(for: way, question)
            #expect(decision.encrypt == .require)
            switch decision.action {
            case .encrypt, .signAndEncrypt: #expect(question.encryption[way] == .usable)
            case .bounce, .deferral: #expect(!decision.unmetRequirements.isEmpty)
            case .plain, .sign: #expect(question.protection == .encrypted && question.readers.contains(way))
            }
            met[decision.action, default: 0] += 1
        }
        #expect(met.values.reduce(0, +) > 300 && met.count >= 5, "\(met)")
    }

    /// Addresses whose mail the mail server may deliver to `recipient`.
    private static func ways(to recipient: EmailAddress) -> [String] {
        let (local, domain) = (recipient.localPart, recipient.domain)
        return [
            recipient.text, recipient.text.uppercased(), "\(local)+x@\(domain)", "\"\(local)\"@\(domain)",
            "\"\(local)+x y\"@\(domain)", "\(local)%\(domain)@relay.example", "\(domain)!\(local)@relay.example",
            "\"\(local)@\(domain)\"@relay.example", "\(local)+x%\(domain)%b.example@relay.example",
        ]
    }

    @Test func `required signing never results in unsigned mail`() throws {
        try forAll { _, recipient, question in
            let decision = PolicyDecision(for: recipient, question)
            guard decision.sign == .require, question.protection == .unprotected else { return }
            #expect(decision.action != .plain && decision.action != .encrypt)
        }
    }

    @Test func `no decision does what a rule forbids or what is impossible`() throws {
        try forAll { _, recipient, question in
            let decision = PolicyDecision(for: recipient, question)
            let signs = [.sign, .signAndEncrypt].contains(decision.action)
            let encrypts = [.encrypt, .signAndEncrypt].contains(decision.action)
            #expect(
                !signs || decision.sign > .never && question.signing == .usable && question.protection == .unprotected
            )
            #expect(!encrypts || decision.encrypt > .never && question.encryption[recipient] == .usable)
            #expect(!encrypts || question.protection != .encrypted)
        }
    }

    @Test func `the command line overrides rules, their limits and the message`() throws {
        try forAll { _, recipient, question in
            let decision = PolicyDecision(for: recipient, question)
            if let sign = question.flags.sign { #expect(decision.sign == sign) }
            if let encrypt = question.flags.encrypt { #expect(decision.encrypt == encrypt) }
        }
    }

    @Test func `the closest rule decides, in any order of rules`() throws {
        try forAll { generator, recipient, question in
            var question = question
            (question.flags, question.message) = (ProtectionRequest(), ProtectionRequest())
            let closest = Oracle(recipient, question).closest { $0.encrypt != nil }
            let expected = closest?.encrypt ?? .available
            #expect(PolicyDecision(for: recipient, question).encrypt == expected)
            question.rules.shuffle(using: &generator)
            #expect(PolicyDecision(for: recipient, question).encrypt == expected)
        }
    }

    @Test func `under override=stricter a message can only add protection`() throws {
        var differences = 0
        try forAll { _, recipient, question in
            var question = question
            question.flags = ProtectionRequest()
            question.account = recipient
            question.rules = question.rules.map { $0.merging(Policy.Rule($0.scope, override: .stricter)) }
            guard Oracle(recipient, question).closest({ $0.encrypt != nil || $0.scope == .global }) != nil else {
                return
            }
            question.message.encrypt = nil
            let base = PolicyDecision(for: recipient, question).encrypt
            var last = base
            for request in Policy.Level.allCases {
                question.message.encrypt = request
                let level = PolicyDecision(for: recipient, question).encrypt
                #expect(level == max(base, request))
                #expect(level >= last)
                differences += level == base ? 0 : 1
                last = level
            }
        }
        #expect(differences > 50)
    }

    @Test func `a request in a message from a sender without an account is ignored`() throws {
        try forAll { _, recipient, question in
            var question = question
            question.account = nil
            let decision = PolicyDecision(for: recipient, question)
            question.message = ProtectionRequest()
            let unasked = PolicyDecision(for: recipient, question)
            #expect(
                (decision.sign, decision.encrypt, decision.action) == (unasked.sign, unasked.encrypt, unasked.action)
            )
        }
    }

    @Test func `rules for kinds of mail never lower required encryption`() throws {
        var required = 0
        try forAll { generator, recipient, question in
            var question = question
            (question.flags, question.message) = (ProtectionRequest(), ProtectionRequest())
            question.kind = nil
            guard PolicyDecision(for: recipient, question).encrypt == .require else { return }
            question.kind = Policy.Kind.allCases.randomElement(using: &generator)
            question.rules += Policy.Kind.allCases.map { Policy.Rule(.kind($0), encrypt: .never) }
            #expect(PolicyDecision(for: recipient, question).encrypt == .require)
            required += 1
        }
        #expect(required > 50)
    }

    @Test func `A bounce never bounces`() throws {
        try forAll { _, recipient, question in
            var question = question
            (question.sender, question.account, question.kind) = (nil, nil, .bounce)
            #expect(PolicyDecision(for: recipient, question).action != .bounce)
        }
    }

    @Test func `under override=none a request in the message is ignored`() throws {
        try forAll { _, recipient, question in
            var question = question
            question.rules = question.rules.map { $0.merging(Policy.Rule($0.scope, override: .nothing)) }
            let oracle = Oracle(recipient, question)
            guard oracle.closest({ $0.scope == .global }) != nil else { return }
            let decision = PolicyDecision(for: recipient, question)
            question.message = ProtectionRequest()
            let unasked = PolicyDecision(for: recipient, question)
            #expect(
                (decision.sign, decision.encrypt, decision.action) == (unasked.sign, unasked.encrypt, unasked.action)
            )
        }
    }
}

/// An independent implementation of the order of rules, which tries the kinds of patterns one after the other.
private struct Oracle {
    private let recipient: EmailAddress
    private let question: PolicyQuestion

    init(_ recipient: EmailAddress, _ question: PolicyQuestion) {
        self.recipient = recipient
        self.question = question
    }

    func closest(_ speaks: (Policy.Rule) -> Bool) -> Policy.Rule? {
        let rules = question.rules.filter(speaks)
        let ofRecipient = texts(recipient.text).map { "recipient " + $0 }
        var ofSender = question.sender.map { texts($0.text) } ?? []
        if let account = question.account?.text { ofSender.insert(account, at: min(1, ofSender.count)) }
        for scope in ofRecipient + ofSender.map({ "sender " + $0 }) + ["global"] {
            if let rule = rules.first(where: { $0.scope.description == scope }) { return rule }
        }
        return nil
    }

    /// The patterns `a@s.x.test`, `s.x.test`, `*.x.test` and `*.test` for the address a@s.x.test.
    private func texts(_ address: String) -> [String] {
        let domain = address.drop { $0 != "@" }.dropFirst()
        var (result, rest) = ([address, String(domain)], domain)
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            result.append("*.\(rest)")
        }
        return result
    }
}
