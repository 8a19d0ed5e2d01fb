import InternetMessage
import SMIMEStore
import Testing

@Suite struct PolicyStoreTests {
    private func scope(_ pattern: String) throws -> Policy.Scope { .recipient(try #require(Policy.Pattern(pattern))) }

    @Test(arguments: [
        ("Bob@Example.ORG", "bob@example.org"), ("Example.org", "@example.org"), ("@example.org", "@example.org"),
        ("*.Example.org", "*.example.org"), ("пример.test", "@xn--e1afmkfd.test"),
        ("*.пример.test", "*.xn--e1afmkfd.test"),
    ])
    func `a policy pattern is an address, a domain or all subdomains`(text: String, key: String) {
        #expect(Policy.Pattern(text)?.key == key)
    }

    @Test(arguments: [
        "", "@", "*.", "*", "*.@x.test", "@@x.test", "@a@x.test", "a b", "x..test", "-a@x.test", "*.*.test",
        "*@x.te st", "*.[1.2.3.4]",
    ])
    func `other text is no policy pattern`(_ text: String) {
        #expect(Policy.Pattern(text) == nil)
    }

    @Test func `setting a rule adds to it, unsetting removes the named parts`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let policy = store.policy
        let domain = try scope("example.org")
        _ = try await policy.set(Policy.Rule(domain, encrypt: .require, missing: .deferral))
        let merged = try await policy.set(Policy.Rule(try scope("@EXAMPLE.org"), sign: .never, override: .nothing))
        #expect(merged == Policy.Rule(domain, sign: .never, encrypt: .require, override: .nothing, missing: .deferral))
        #expect(try await policy.rules() == [merged])
        let removed = try await policy.unset(Policy.Rule(domain, sign: .never, encrypt: .never))
        #expect(removed?.after == Policy.Rule(domain, encrypt: .require, override: .nothing, missing: .deferral))
        #expect(try await policy.unset(Policy.Rule(domain))?.after == nil)
        #expect(try await policy.rules().isEmpty)
        #expect(try await policy.unset(Policy.Rule(domain)) == nil)
    }

    @Test func `only rules that can apply are looked up`() async throws {
        let home = try TemporaryHome()
        let store = try await home.open()
        let policy = store.policy
        for pattern in [
            "bob@a.example.org", "a.example.org", "*.example.org", "*.org", "example.org", "eve@a.example.org",
        ] {
            _ = try await policy.set(Policy.Rule(try scope(pattern), sign: .never))
        }
        _ = try await policy.set(Policy.Rule(.global, sign: .never))
        let found = try await policy.rules(forSenders: [], recipients: [try EmailAddress("Bob@A.example.org")])
        #expect(
            Set(found.map(\.scope.description)) == [
                "global", "recipient bob@a.example.org", "recipient a.example.org", "recipient *.example.org",
                "recipient *.org",
            ]
        )
    }

    @Test func `a lost rule is an error until it is set again`() async throws {
        let home = try TemporaryHome()
        var store = try await home.open()
        let domains = ["a.test", "b.test", "c.test"]
        for domain in domains { _ = try await store.policy.set(Policy.Rule(try scope(domain), encrypt: .require)) }
        try await store.close()
        try await home.change("DELETE FROM policy_rule WHERE pattern_key <> '@a.test'")
        store = try await home.open()
        for domain in domains.dropFirst() {
            await #expect(throws: KeystoreError.self) { try await store.policy.rules() }
            await #expect(throws: KeystoreError.self) {
                try await store.policy.rules(forSenders: [], recipients: [try EmailAddress("bob@a.test")])
            }
            let errors = try await store.check().filter { $0.level == .error }
            #expect(errors.map(\.text.description).contains { $0.contains("rules, and 3 were set") })
            _ = try await store.policy.set(Policy.Rule(try scope(domain), encrypt: .require))
        }
        #expect(try await store.policy.rules().count == 3)
        #expect(try await store.check().allSatisfy { $0.level != .error })
        for domain in domains { _ = try await store.policy.unset(Policy.Rule(try scope(domain))) }
        #expect(try await store.policy.rules().isEmpty)
    }

    @Test(arguments: [
        "side = 'recipiemt'", "pattern_key = '@c.test'", "pattern = 'c.test'", "encrypt = 'never'", "encrypt = NULL",
        "side = 'sender'",
    ])
    func `a changed rule is an error until all rules are removed`(change: String) async throws {
        let home = try TemporaryHome()
        var store = try await home.open()
        let rule = Policy.Rule(try scope("a.test"), encrypt: .require)
        _ = try await store.policy.set(rule)
        _ = try await store.policy.set(Policy.Rule(try scope("b.test"), encrypt: .require))
        try await store.close()
        try await home.change("UPDATE policy_rule SET \(change) WHERE pattern_key = '@a.test'")
        store = try await home.open()
        for address in ["bob@a.test", "bob@b.test"] {
            await #expect(throws: KeystoreError.self) {
                try await store.policy.rules(forSenders: [], recipients: [try EmailAddress(address)])
            }
        }
        #expect(try await store.check().contains { $0.text.description.contains("is not the one that was set") })
        // Setting another rule does not end the error.
        _ = try await store.policy.set(Policy.Rule(.global, sign: .never))
        await #expect(throws: KeystoreError.self) { try await store.policy.rules() }
        try await store.policy.removeAll()
        _ = try await store.policy.set(rule)
        #expect(try await store.policy.rules() == [rule])
        #expect(try await store.check().allSatisfy { $0.level != .error })
    }
}
