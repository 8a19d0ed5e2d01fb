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
                encryption.floor: the weakest cipher that smime uses, even if recipients or senders want a weaker one.
                encryption.unknown: the cipher for recipients who announce no ciphers. Exceptions for recipients or \
                senders can follow, such as 'aes-256-gcm example.org=aes-256-cbc alice@example.com=aes-256-cbc'.
                subject-tags: the tags that senders can write into a subject, and what each tag asks for. If empty, \
                there are no tags.
                filter.authserv-id: the name of this host in Authentication-Results fields. If empty, the host's full \
                name.
                filter.bounce-text: a sentence that follows the reason in a bounce, for example whom to ask. \
                filter.bounce-text.DOMAIN is for senders of that domain.
                filter.recipient-delimiter: the characters that begin a detail in an address, such as + in \
                alice+tag@example.org. The rules and the account of alice@example.org apply to such mail (like Postfix's \
                recipient_delimiter). If empty, addresses have no details.
                filter.sendmail: the program that filter and sendmail pass mail to, with its arguments. A program without \
                arguments gets -G -i.
                filter.decrypted-sender: the envelope sender of incoming mail that was decrypted. This \
                address receives the bounce if such mail cannot be delivered. If empty, the null sender: the original \
                sender must not get the decrypted mail back.
                filter.tags (on, off): whether the verdict on incoming mail is also written into the subject.
                filter.log: where `smime filter` writes its log line for each mail: syslog, stderr or none.
                header-protection (on, off): whether the header is signed and encrypted with the content.
                header-confidentiality (none, baseline, shy): which header fields of encrypted mail are hidden, for \
                accounts without a setting of their own.
                legacy-display (on, off): whether hidden header fields are repeated in the text of the mail.
                lookup.order: the sources of recipients' certificates in order; registry, which is this store, is first. A \
                source whose own setting is empty or off is not used. A certificate from another source than registry is \
                used only if it names the address.
                lookup.directory: a folder with certificate files, each named after an address, such as \
                bob@example.org.pem, or a domain, such as @example.org.pem. If empty, no folder is used.
                lookup.directory.timeout: how long to wait for the folder in lookup.directory, such as 2s or 500ms.
                lookup.command: a program that gets an address as its only argument and prints the certificates of the \
                address as PEM. Its exit status is 0 if it found certificates, 1 if there are none, and 75 if the \
                lookup failed for now. If empty, no program is called.
                lookup.command.timeout: how long to wait for the program in lookup.command.
                lookup.ldap: the URL of an LDAP directory, such as \
                ldaps://ldap.example.org/dc=example,dc=org??sub?(mail=%s), where %s is the address. If empty, no LDAP \
                directory is used.
                lookup.ldap.starttls (on, off): whether a connection to an ldap URL is upgraded to TLS.
                lookup.ldap.ca-file: a file with the CA certificates for the LDAP server. If empty, the system's CA \
                certificates are used.
                lookup.ldap.bind, lookup.ldap.password-file: the name for the login to the LDAP server, and a file \
                with the password.
                lookup.ldap.timeout: how long to wait for the LDAP server.
                lookup.smimea (on, off): whether certificates are looked up in the DNS (SMIMEA records). Only answers \
                that are validated with DNSSEC are used.
                lookup.smimea.resolver: the address of the DNS resolver, such as 127.0.0.1@5353. If empty, the \
                resolvers of this host are used.
                lookup.smimea.trust-anchor: a file with the DNSSEC keys to trust. If empty, the keys of the DNS root \
                are used.
                lookup.smimea.timeout: how long to wait for the DNS.
                lookup.budget: how long lookup.command, lookup.ldap and lookup.smimea together may delay one message.
                lookup.cache: how long certificates from a source other than the folder are used without asking the \
                source again, such as 1h.
                lookup.cache.none: how long the answer that there is no certificate is used without asking the source \
                again, such as 10m.
                revocation.directory: a folder of revocation lists, which are used like imported lists. While the \
                folder cannot be read, verdicts have a warning, and --revocation hard rejects certificates.
                revocation.online (on, off): whether the services that certificates name are asked, as with --online.
                revocation.private-addresses (on, off): whether the services that certificates name may be in private \
                networks.
                revocation.timeout: how long to wait for one revocation service, such as 5s or 500ms.
                verify.accept-sender, verify.accept-weak (on, off): whether commands act as with --accept-sender and \
                --accept-weak.

                  smime config set subject-tags \\
                    '[encrypt] encrypt=require [open] encrypt=never'
                  smime config set lookup.directory /mnt/certificates
                  smime config list
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
            discussion: """
                  smime config list
                  smime config list --json
                """
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
            discussion: """
                  smime config get subject-tags
                  smime config get encryption.floor
                """
        )

        @Argument(help: ArgumentHelp("The setting: see `smime config --help-all`.", valueName: "key"))
        var key: SettingKey
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            let made = try await global.store(.readOnly).settings.value(of: key.name)
            let value = made ?? key.setting.standard
            try report.print(key.report(value)) { value + "\n" }
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change a setting.",
            discussion: """
                  smime config set subject-tags '[encrypt] encrypt=require'
                  smime config set revocation.online on
                  smime config set encryption.unknown 'aes-256-gcm example.org=aes-256-cbc'
                """
        )

        @Argument(help: ArgumentHelp("The setting: see `smime config --help-all`.", valueName: "key"))
        var key: SettingKey
        @Argument(help: "The new value of the setting.")
        var value: String
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard key.setting.accepts(value) else {
                throw ValidationError("\(key.name) cannot be '\(value)'; it must be \(key.setting.expectation)")
            }
        }

        func run() async throws {
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.name, to: value)
            if report.json { try Report.print(key.report(value)) }
            try await warn(of: value, in: store)
            try await store.close()
        }
    }

    struct Unset: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Reset a setting to its default.",
            discussion: """
                  smime config unset subject-tags
                  smime config unset lookup.directory
                """
        )

        @Argument(help: ArgumentHelp("The setting: see `smime config --help-all`.", valueName: "key"))
        var key: SettingKey
        @OptionGroup var report: ReportOptions
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            guard try await global.store(.readOnly).exists else { return try print() }
            let store = try await global.store(.readWrite)
            try await store.settings.set(key.name, to: nil)
            try await store.close()
            try print()
        }

        private func print() throws {
            if report.json { try Report.print(key.report(key.setting.standard)) }
        }
    }
}

extension SettingKey {
    /// The JSON report on the setting, in the form of `config list`.
    fileprivate func report(_ value: String) -> [String: [String: String]] { ["settings": [name: value]] }
}
