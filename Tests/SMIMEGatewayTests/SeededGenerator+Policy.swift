import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEGateway
import SMIMEStore
import TestSupport

/// Random policies and messages. They use few names, so that several rules apply.
extension SeededGenerator {
    static let addresses = ["a@x.test", "b@x.test", "a@s.x.test", "a@t.s.x.test", "b@y.test"]
    static let patterns = addresses + ["x.test", "s.x.test", "y.test", "*.x.test", "*.s.x.test", "*.test"]

    mutating func address() throws -> EmailAddress {
        try EmailAddress(Self.addresses[Int.random(in: 0..<5, using: &self)])
    }

    /// One of `values`, or nil with a probability of one third.
    mutating func maybe<Value>(_ values: [Value]) -> Value? {
        Int.random(in: 0..<3, using: &self) == 0 ? nil : values.randomElement(using: &self)
    }

    mutating func rule() -> Policy.Rule {
        let pattern = Self.patterns.randomElement(using: &self).flatMap { Policy.Pattern($0) }
        let scope: Policy.Scope =
            switch (Int.random(in: 0..<5, using: &self), pattern) {
            case (0...1, let pattern?): .recipient(pattern)
            case (2...3, let pattern?): .sender(pattern)
            default: .global
            }
        return Policy.Rule(
            scope,
            sign: maybe(Policy.Level.allCases),
            encrypt: maybe(Policy.Level.allCases),
            override: maybe(Policy.Override.allCases),
            missing: maybe(Policy.Missing.allCases)
        )
    }

    mutating func request() -> ProtectionRequest {
        ProtectionRequest(sign: maybe(Policy.Level.allCases), encrypt: maybe(Policy.Level.allCases))
    }

    mutating func availability() -> Availability {
        let availabilities: [Availability] = [
            .usable, .usable, .usable, .missing(why: "none is known"), .unusable(why: "expired"),
            .unknown(why: "the folder is away"), .unreached(why: "the directory is down"),
        ]
        return availabilities.randomElement(using: &self) ?? .usable
    }

    mutating func protection() -> ExistingProtection {
        [.signed, .encrypted, .unprotected, .unprotected].randomElement(using: &self) ?? .unprotected
    }

    /// A random recipient with a policy question; at most one rule for each scope.
    mutating func question() throws -> (EmailAddress, PolicyQuestion) {
        var rules: [Policy.Scope: Policy.Rule] = [:]
        for _ in 0..<Int.random(in: 0...8, using: &self) {
            let rule = rule()
            rules[rule.scope] = rule
        }
        let recipient = try address()
        let question = PolicyQuestion(
            sender: try maybe([address()]),
            account: try maybe([address()]),
            rules: rules.values.shuffled(using: &self),
            flags: Int.random(in: 0..<4, using: &self) == 0 ? request() : ProtectionRequest(),
            message: request(),
            protection: protection(),
            readers: Bool.random(using: &self) ? [recipient] : [],
            signing: availability(),
            encryption: [recipient: availability()]
        )
        return (recipient, question)
    }
}
