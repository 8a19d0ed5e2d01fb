import ArgumentParser
import Foundation
import SMIMEStore

extension SMIMECommand {
    struct PolicyCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "policy",
            abstract: "Show and change the rules for signing and encryption.",
            discussion: """
                The first item in this list that applies decides:
                1. the command line
                2. the message: its X-SMIME field or subject tags
                3. the rule for the recipient: address, domain, *.domain
                4. the rule for the sender: account, domain, *.domain
                5. the rule for the kind of mail: bounce, list, automatic
                6. the global rule
                Otherwise mail is signed and encrypted if possible; list mail is only signed, bounces are neither.

                A message can lower the level require only if the rule with this level has --override any. The same \
                applies to the rule for the kind of mail, which never lowers encrypt=require.

                  smime policy set --recipient example.org --encrypt require
                  smime policy explain mail.eml --from alice@example.org
                  smime policy list
                """,
            subcommands: [List.self, Set.self, Unset.self, Clear.self, Explain.self]
        )
    }
}

extension SMIMECommand.PolicyCommand {
    /// The options for the scope of a rule and its parts.
    struct RuleOptions: ParsableArguments {
        @Flag(help: "The rule for all other mail.")
        var global = false
        @Option(
            help: ArgumentHelp("The rule for mail from this address, domain or *.domain.", valueName: "pattern"),
            completion: CompletedWords.accounts.completion,
            transform: Policy.Pattern.typed
        )
        var sender: Policy.Pattern?
        @Option(
            help: ArgumentHelp("The rule for mail to this address, domain or *.domain.", valueName: "pattern"),
            completion: CompletedWords.recipients.completion,
            transform: Policy.Pattern.typed
        )
        var recipient: Policy.Pattern?
        @Option(help: "The rule for bounces, mailing lists or automatic mail: bounce, list or automatic.")
        var kind: Policy.Kind?
        @OptionGroup var levels: LevelOptions
        @Option(
            help:
                "Which levels a message may ask for instead: any, stricter or none. (default: stricter for require, else any)"
        )
        var override: Policy.Override?
        @Option(help: "What to do if a required certificate is missing: bounce or defer.")
        var missing: Policy.Missing?
        @Option(help: "What to do with mail that is already signed or encrypted: pass it, or resign (sign it again).")
        var protected: Policy.Protected?
        @Option(
            name: .customLong("decrypt-at-gateway"),
            help:
                """
                Whether incoming mail for these recipients is decrypted: yes, no, or authenticated (only mail with \
                authenticated encryption, not AES-CBC).
                """
        )
        var decryptAtGateway: Policy.GatewayDecryption?

        func validate() throws {
            guard [global, sender != nil, recipient != nil, kind != nil].count(where: \.self) == 1 else {
                throw ValidationError("name one rule: --global, --sender PATTERN, --recipient PATTERN or --kind KIND")
            }
            if kind == .bounce, let sign = levels.sign, sign != .never {
                throw ValidationError("bounces are not signed: no mail server has checked who sends them")
            }
            if decryptAtGateway != nil, sender != nil || kind != nil {
                throw ValidationError("--decrypt-at-gateway requires --recipient or --global")
            }
        }

        var rule: Policy.Rule {
            let scope =
                sender.map(Policy.Scope.sender) ?? recipient.map(Policy.Scope.recipient)
                ?? kind.map(Policy.Scope.kind) ?? .global
            return Policy.Rule(
                scope,
                sign: levels.sign,
                encrypt: levels.encrypt,
                override: override,
                missing: missing,
                protected: protected,
                decryptAtGateway: decryptAtGateway
            )
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the rules.",
            discussion: """
                  smime policy list
                  smime policy list --json
                """
        )

        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let policy = try await global.store(.readOnly).policy
            let rules = try await policy.rules(isComplete: false)
            if let loss = try await policy.loss() {
                Console.warning(
                    "\(loss): restore a copy of the store, or remove all rules (smime policy clear) and set them again"
                )
            }
            if rules.isEmpty, !report.json {
                Console.note(
                    "no rules: mail is signed and encrypted if possible; list mail is only signed, bounces are neither"
                )
            }
            try RuleReport.print(rules, report)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Create a rule, or add or change parts of a rule.",
            discussion: """
                The levels are never, available (if possible) and require (otherwise the mail is not sent).

                A message from an account may ask for another level, such as `X-SMIME: encrypt=never`. A message can \
                lower the level require only if the rule has --override any. A subject tag can lower a level only if \
                it is the first word.

                  smime policy set --global --sign available --encrypt available
                  smime policy set --recipient '*.example.org' --encrypt require
                  smime policy set --sender alice@example.org --sign require
                """
        )

        @OptionGroup var options: RuleOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard !options.rule.isEmpty else {
                throw ValidationError(
                    "say what the rule is: --sign, --encrypt, --override, --missing, --protected or --decrypt-at-gateway"
                )
            }
        }

        func run() async throws {
            let store = try await global.store(.readWrite)
            let rule = try await store.policy.set(options.rule)
            try await store.close()
            if rule.override != nil, rule.sign == nil, rule.encrypt == nil, rule.scope != .global {
                Console.warning("\(rule.scope): --override has no effect: this rule sets neither level")
            }
            if rule.requiresSomething, rule.override == .any {
                Console.warning(
                    "\(rule.scope): a message can lower the level require, because the rule has override=any"
                )
            }
            try RuleReport.print([rule], report)
        }
    }

    struct Unset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Remove a rule, or parts of a rule.",
            discussion: """
                With --sign or other parts, removes only these parts of the rule, and only if the rule has the same \
                values.

                  smime policy unset --recipient example.org
                  smime policy unset --recipient example.org --encrypt require
                  smime policy unset --global
                """
        )

        @OptionGroup var options: RuleOptions
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let rule = options.rule
            let change: (before: Policy.Rule, after: Policy.Rule?)?
            if try await global.store(.readOnly).exists {
                let store = try await global.store(.readWrite)
                change = try await store.policy.unset(rule)
                try await store.close()
            } else {
                change = nil
            }
            guard let change else {
                throw Failure(
                    .noUser,
                    "\(rule.scope): there is no such rule",
                    hints: ["`smime policy list` shows the rules"]
                )
            }
            if change.after == change.before {
                Console.warning("\(rule.scope): the rule has no such value, and is unchanged")
            }
            try RuleReport.print([change.after].compactMap(\.self), report)
        }
    }
}

/// A rule as reports show it.
struct RuleReport: Encodable {
    let side: String
    let pattern: String?
    let sign: String?
    let encrypt: String?
    let override: String?
    let missing: String?
    let protected: String?
    let decryptAtGateway: String?

    init(_ rule: Policy.Rule) {
        side = rule.scope.side
        pattern = rule.scope == .global ? nil : rule.scope.text
        sign = rule.sign?.rawValue
        encrypt = rule.encrypt?.rawValue
        override = rule.shownOverride?.rawValue
        missing = rule.missing?.rawValue
        protected = rule.protected?.rawValue
        decryptAtGateway = rule.decryptAtGateway?.rawValue
    }

    static func print(_ rules: [Policy.Rule], _ options: ReportOptions) throws {
        try options.print(["rules": rules.map(RuleReport.init)]) {
            var table = TextTable()
            for rule in rules { table.add(rule.scope.side, rule.scope.text, rule.words) }
            return table.text
        }
    }
}

extension Policy.Rule {
    /// How far messages may change the rule's levels: the rule's own value, or the default if the rule requires something;
    /// nil otherwise.
    fileprivate var shownOverride: Policy.Override? { override ?? (requiresSomething ? .standard(for: .require) : nil) }

    /// The parts of the rule, such as `sign=require encrypt=never missing=defer`.
    var words: String {
        let says = [
            ("sign", sign?.rawValue), ("encrypt", encrypt?.rawValue),
            ("override", shownOverride.map { $0.rawValue + (override == nil ? " (default of require)" : "") }),
            ("missing", missing?.rawValue), ("protected", protected?.rawValue),
            ("decrypt-at-gateway", decryptAtGateway?.rawValue),
        ]
        return says.compactMap { name, value in value.map { "\(name)=\($0)" } }.joined(separator: " ")
    }
}
