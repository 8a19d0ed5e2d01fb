import ArgumentParser
import Foundation
import SMIMEAgent
import SMIMEStore

extension SMIMECommand {
    struct ConfigCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "config",
            abstract: "Show and change the settings of the store.",
            discussion: """
                encryption.floor: the weakest cipher to use, whatever recipients announce or a sender asks for.
                encryption.unknown: the cipher for recipients who announce none, with exceptions for recipients or \
                senders, as in 'aes-256-gcm example.org=aes-256-cbc alice@example.com=aes-256-cbc'.
                subject-tags: the tags that senders can write into a subject, and what each asks for. Empty for none.
                filter.authserv-id: the name of this host in Authentication-Results fields. Empty for the host's full name.
                filter.bounce-text: a sentence for people that follows the reason in a bounce; \
                filter.bounce-text.DOMAIN is for senders of that domain.
                filter.recipient-delimiter: the characters that begin a detail in an address, as + in \
                alice+tag@example.org: rules and accounts of alice@example.org count for it. Like Postfix's \
                recipient_delimiter. Empty for none.
                filter.sendmail: the program that `smime filter` passes mail to, with its arguments.
                filter.decrypted-sender: the envelope sender of mail that `smime filter incoming` decrypted. It receives \
                the bounce if such mail cannot be delivered. Empty for the null sender: the original sender must not get \
                the decrypted mail back.
                filter.tags (on, off): whether `smime filter incoming` also writes its verdict into the subject.
                filter.log: where `smime filter` writes its log line for each mail: syslog, stderr or none.
                header-protection (on, off): whether the header is signed and encrypted with the content.
                header-confidentiality (none, baseline, shy): what encrypted mail hides of its header, for accounts \
                without a setting of their own.
                legacy-display (on, off): whether hidden fields are repeated in the text.
                lookup.order: the sources of recipients' certificates in order, the registry first. One whose own setting \
                is empty is not asked.
                lookup.directory: a folder of certificates in files named after the address, as bob@example.org.pem, or \
                the domain, as @example.org.pem. Empty for none.
                lookup.directory.timeout: how long to wait for that folder, as 2s or 500ms.
                lookup.command: a program that gets an address as its only argument and prints its certificates as PEM. It \
                ends with 0, or 1 if there is none, or 75 if it does not know now. Empty for none.
                lookup.command.timeout: how long to wait for that program.
                lookup.ldap: an LDAP directory as a URL, such as ldaps://ldap.example.org/dc=example,dc=org??sub?(mail=%s), \
                where %s is the address. Empty for none.
                lookup.ldap.starttls (on, off): whether TLS is started with an ldap URL.
                lookup.ldap.ca-file: the certificates that its TLS certificate must chain to. Empty for the system's.
                lookup.ldap.bind, lookup.ldap.password-file: the name to log in to it with, and a file with the password.
                lookup.ldap.timeout: how long to wait for the directory.
                lookup.smimea (on, off): whether DNS is asked for SMIMEA records. Only what DNSSEC proves counts.
                lookup.smimea.resolver: the address of the resolver, such as 127.0.0.1@5353. Empty for those of this host.
                lookup.smimea.trust-anchor: a file with the keys of DNSSEC. Empty for those of the root.
                lookup.smimea.timeout: how long to wait for DNS.
                lookup.budget: how long all sources but registry and directory together may delay one message.
                lookup.cache, lookup.cache.none: how long an answer with certificates is used without asking again, and how \
                long the answer that there is none, as 1h or 10m.
                revocation.directory: a folder of revocation lists, which count like imported ones. While it cannot be \
                read, verdicts have a warning, and --revocation hard rejects.
                revocation.online (on, off): whether verify, decrypt, encrypt and filter ask the services that \
                certificates name, as with --online.
                revocation.private-addresses (on, off): whether such services may be in private networks.
                revocation.timeout: how long to wait for one such service, as 5s or 500ms.

                  smime config set subject-tags \\
                    '[encrypt] encrypt=require [open] encrypt=never'
                  smime config set lookup.directory /mnt/certificates
                """,
            subcommands: [List.self, Get.self, Set.self, Unset.self]
        )
    }
}

extension SMIMECommand.ConfigCommand {
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the settings with their values.",
            discussion: "  smime config list"
        )

        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let settings = try await global.store(.readOnly).settings
            let (made, host) = (try await settings.all(), try settings.ofHost())
            var values = Dictionary(
                uniqueKeysWithValues: Setting.allCases.map { ($0.rawValue, made[$0.rawValue] ?? $0.standard) }
            )
            for (name, value) in made where SettingKey(name)?.domain != nil { values[name] = value }
            let origins = host.map { host in host.values.mapValues { _ in host.file } } ?? [:]
            try report.print(origins.isEmpty ? ["settings": values] : ["settings": values, "origins": origins]) {
                values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }.joined()
            }
            guard let host, !host.values.isEmpty else { return }
            Console.note("from \(host.file): \(host.values.keys.sorted().joined(separator: ", "))")
        }
    }

    struct Get: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Print the value of a setting.",
            discussion: "  smime config get subject-tags"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        var key: SettingKey
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let made = try await global.store(.readOnly).settings.value(of: key.name)
            try Console.print((made ?? key.setting.standard) + "\n")
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change a setting.",
            discussion: "  smime config set subject-tags '[encrypt] encrypt=require'"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        var key: SettingKey
        @Argument(help: "Its value.")
        var value: String
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard key.setting.accepts(value) else {
                throw ValidationError("\(key.name) cannot be '\(value)', but \(key.setting.expectation)")
            }
        }

        func run() async throws {
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.name, to: value)
            let isMissing = await !store.canReadFolder(of: key.setting)
            let password = try await store.settings.value(of: Setting.lookupLDAPPassword.rawValue) ?? ""
            try await store.close()
            if key.setting == .lookupLDAPName, !value.isEmpty, password.isEmpty {
                Console.warning("no password is named, so the directory cannot be asked")
                Console.hint(
                    "name a file that has it: lookup.ldap.password-file, or the systemd credential smime-ldap-password"
                )
            }
            guard isMissing else { return }
            Console.warning("\(value): not a readable folder, so its revocation lists do not count")
            Console.hint("create it, readable for the user of the store, then: smime doctor")
        }
    }

    struct Unset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Reset a setting to its default.",
            discussion: "  smime config unset subject-tags"
        )

        @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
        var key: SettingKey
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            guard try await global.store(.readOnly).exists else { return }
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.name, to: nil)
            try await store.close()
        }
    }
}
