import Foundation

/// Accounts, store, environment: a store modified by an attacker or damaged by a bad disk.
enum StoreCases {
    struct Case: Sendable, CustomStringConvertible {
        let name: String
        /// A shell script that damages `$SMIME_HOME`.
        let damage: String
        /// The command, and its required status.
        let command: [String]
        let status: Int32
        /// Required text on standard error.
        var says: String?

        init(_ name: String, command: String, status: Int32, says: String? = nil, damage: String) {
            self.name = name
            self.damage = damage
            self.command = command.split(separator: " ").map(String.init)
            self.status = status
            self.says = says
        }

        var description: String { name }
    }

    static let all: [Case] = rows + values + replaced + strange + (geteuid() == 0 ? foreign : [])

    private static func sql(_ statements: String) -> String {
        "sqlite3 \"$SMIME_HOME/data/smime.sqlite\" \"PRAGMA foreign_keys = OFF; \(statements)\" >/dev/null"
    }

    /// A table without constraints on its values.
    private static func loose(_ table: String, change: String) -> String {
        sql(
            "CREATE TABLE loose AS SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE loose RENAME TO \(table); \(change)"
        )
    }

    private static let encrypt = "encrypt --no-self --to bob@example.com -o out"
    private static let filter = "filter outgoing --stdout --log none --sender alice@example.com -- bob@example.com"

    /// Modified rows.
    private static let rows: [Case] = [
        Case("sound", command: "sign -o out", status: 0, damage: "true"),
        Case("sound to encrypt with", command: encrypt, status: 0, damage: "true"),
        Case(
            "a certificate that is none",
            command: "sign -o out",
            status: 78,
            damage: sql("UPDATE certificate SET der = x'3000'")
        ),
        Case(
            "a certificate cut off",
            command: encrypt,
            status: 78,
            damage: sql("UPDATE certificate SET der = substr(der, 1, 100)")
        ),
        Case(
            "a certificate in another's place",
            command: "store check",
            status: 78,
            damage: sql(
                "UPDATE certificate SET der = (SELECT der FROM certificate JOIN anchor ON certificate = id) WHERE id = (SELECT max(certificate) FROM recipient)"
            )
        ),
        Case(
            "another recipient's certificate",
            command: encrypt,
            status: 78,
            damage: sql(
                "UPDATE certificate SET der = (SELECT der FROM certificate JOIN anchor ON certificate = id) WHERE id = (SELECT max(certificate) FROM recipient WHERE address = 'bob@example.com')"
            )
        ),
        Case(
            "a private key that is none",
            command: "sign -o out",
            status: 78,
            damage: sql("UPDATE private_key SET sealed = x'00'")
        ),
        Case(
            "a private key in another's place",
            command: "sign -o out",
            status: 78,
            damage: sql(
                "UPDATE private_key SET sealed = (SELECT sealed FROM private_key ORDER BY certificate DESC LIMIT 1)"
            )
        ),
        Case(
            "a protector that is none",
            command: "sign -o out",
            status: 78,
            damage: sql("UPDATE protector SET sealed = zeroblob(3)")
        ),
        Case("no protector", command: "sign -o out", status: 78, damage: sql("DELETE FROM protector")),
        Case(
            "a list that is none",
            command: "verify signed.eml",
            status: 78,
            damage: sql("INSERT INTO crl SELECT fingerprint, subject_key, NULL, x'3000', 1, 0, 1 FROM certificate")
        ),
        Case(
            "a responder's answer that is none",
            command: "verify --revocation hard signed.eml",
            status: 1,
            damage: sql("INSERT INTO ocsp_response SELECT fingerprint, x'3000', 1, 4000000000, 1 FROM certificate")
        ),
        Case(
            "capabilities that are none",
            command: "recipient show bob@example.com",
            status: 0,
            damage: sql("UPDATE recipient SET capabilities = x'ff'")
        ),
        Case("a missing table", command: filter, status: 75, damage: sql("DROP TABLE policy_rule")),
        Case("a missing table of recipients", command: encrypt, status: 78, damage: sql("DROP TABLE recipient")),
        Case("an account that is missing", command: "sign -o out", status: 67, damage: sql("DELETE FROM account")),
        Case(
            "an identity without its certificate",
            command: "sign -o out",
            status: 67,
            damage: sql("DELETE FROM certificate")
        ),
    ]

    /// Values of a wrong type or size.
    private static let values: [Case] = [
        Case(
            "a setting without a value",
            command: "config list",
            status: 78,
            damage: loose("setting", change: "INSERT INTO setting VALUES ('subject-tags', NULL, 1)")
        ),
        Case(
            "an unknown cipher",
            command: encrypt,
            status: 78,
            says: "encryption.unknown",
            damage: sql("INSERT INTO setting VALUES ('encryption.unknown', 'rot13', 1)")
        ),
        Case(
            "a time limit that is none",
            command: "verify --online signed.eml",
            status: 78,
            says: "revocation.timeout",
            damage: sql("INSERT INTO setting VALUES ('revocation.timeout', 'for ever', 1)")
        ),
        Case(
            "a setting of 2 MB",
            command: filter,
            status: 75,
            damage: sql("INSERT INTO setting VALUES ('subject-tags', hex(zeroblob(1000000)), 1)")
        ),
        Case(
            "a setting of 2 MB that is shown",
            command: "config list",
            status: 0,
            damage: sql("INSERT INTO setting VALUES ('subject-tags', hex(zeroblob(1000000)), 1)")
        ),
        Case(
            "a rule of an unknown kind",
            command: filter,
            status: 75,
            damage: loose("policy_rule", change: "UPDATE policy_rule SET encrypt = 'perhaps'")
        ),
        Case(
            "a rule that is a number",
            command: filter,
            status: 75,
            damage: loose("policy_rule", change: "UPDATE policy_rule SET encrypt = 5")
        ),
        Case(
            "a rule with a malformed pattern",
            command: filter,
            status: 75,
            damage: loose("policy_rule", change: "UPDATE policy_rule SET pattern = x'ff'")
        ),
        Case(
            "rules that are missing",
            command: filter,
            status: 75,
            damage: sql("DELETE FROM policy_rule")
        ),
        Case(
            "a number of rules that is no number",
            command: filter,
            status: 75,
            damage: sql("UPDATE setting SET value = 'some' WHERE key = 'policy.rule-digest'")
        ),
        Case(
            "a trust of an unknown kind",
            command: encrypt,
            status: 78,
            damage: sql("UPDATE recipient SET trust = 'perhaps'")
        ),
        Case(
            "a trust that is missing",
            command: encrypt,
            status: 78,
            damage: loose("recipient", change: "UPDATE recipient SET trust = NULL")
        ),
        Case(
            "an address with a line break",
            command: "recipient list",
            status: 78,
            damage: sql("UPDATE recipient SET address = 'x' || char(13, 10) || 'Bcc: y@z.test'")
        ),
        Case(
            "an account with a line break",
            command: "account list",
            status: 78,
            damage: sql("UPDATE account SET address = 'x' || char(13, 10) || 'Bcc: y@z.test'")
        ),
        Case(
            "a certificate that is a text",
            command: "sign -o out",
            status: 78,
            damage: loose("certificate", change: "UPDATE certificate SET der = 'text'")
        ),
        Case(
            "a certificate that is missing",
            command: "recipient list",
            status: 78,
            damage: loose("certificate", change: "UPDATE certificate SET der = NULL")
        ),
        Case(
            "a private key that is a number",
            command: "sign -o out",
            status: 78,
            damage: loose("private_key", change: "UPDATE private_key SET sealed = 7")
        ),
        Case(
            "a protector that is missing",
            command: "sign -o out",
            status: 78,
            damage: loose("protector", change: "UPDATE protector SET sealed = NULL")
        ),
        Case(
            "a pin that is a text",
            command: "account show alice@example.com",
            status: 78,
            damage: loose("identity", change: "UPDATE identity SET pinned = 'perhaps'")
        ),
        Case(
            "a time beyond all time",
            command: "recipient show bob@example.com --json",
            status: 0,
            damage: sql("UPDATE recipient SET last_seen = 9223372036854775807")
        ),
        Case(
            "a time before all time",
            command: "recipient show bob@example.com --json",
            status: 0,
            damage: sql("UPDATE recipient SET first_seen = -9223372036854775808")
        ),
        Case(
            "an identity added beyond all time",
            command: "account show alice@example.com --json",
            status: 0,
            damage: sql("UPDATE identity SET added = 9223372036854775807")
        ),
        Case(
            "an anchor added as a text",
            command: "trust list",
            status: 78,
            damage: loose("anchor", change: "UPDATE anchor SET added = 'perhaps'")
        ),
    ]

    /// Files replaced by other things.
    private static let replaced: [Case] =
        ["data/smime.sqlite", "key/store.key", "lock"].flatMap { file -> [Case] in
            [
                Case(
                    "a pipe for \(file)",
                    command: "sign -o out",
                    status: 77,
                    says: "is not a regular file",
                    damage: "cd \"$SMIME_HOME\"; rm -f \(file); mkfifo -m 600 \(file)"
                ),
                Case(
                    "a link for \(file)",
                    command: "sign -o out",
                    status: 77,
                    says: "is a symbolic link",
                    damage: "cd \"$SMIME_HOME\"; mv \(file) ../elsewhere; ln -s ../../elsewhere \(file)"
                ),
                Case(
                    "a folder for \(file)",
                    command: "sign -o out",
                    status: 77,
                    damage: "cd \"$SMIME_HOME\"; rm -f \(file); mkdir -m 700 \(file)"
                ),
                Case(
                    "a device for \(file)",
                    command: "sign -o out",
                    status: 77,
                    damage: "cd \"$SMIME_HOME\"; rm -f \(file); ln -s /dev/zero \(file)"
                ),
                Case(
                    "a second name for \(file)",
                    command: "sign -o out",
                    status: 0,
                    damage: "cd \"$SMIME_HOME\"; ln \(file) ../second"
                ),
            ]
        }

    private static let strange: [Case] = [
        Case(
            "a pipe for the log",
            command: "sign -o out",
            status: 77,
            damage: "cd \"$SMIME_HOME/data\"; rm -f smime.sqlite-wal; mkfifo -m 600 smime.sqlite-wal"
        ),
        Case(
            "a link for the log",
            command: "sign -o out",
            status: 77,
            damage: "cd \"$SMIME_HOME/data\"; rm -f smime.sqlite-wal; ln -s /dev/zero smime.sqlite-wal"
        ),
        Case(
            "garbage for the log",
            command: "sign -o out",
            status: 0,
            damage:
                "head -c 100000 /dev/urandom >\"$SMIME_HOME/data/smime.sqlite-wal\"; chmod 600 \"$SMIME_HOME/data/smime.sqlite-wal\""
        ),
        Case(
            "a key file of a gigabyte",
            command: "sign -o out",
            status: 78,
            damage: "truncate -s 1G \"$SMIME_HOME/key/store.key\""
        ),
        Case(
            "a store with a gigabyte behind it",
            command: "store check",
            status: 0,
            damage: "truncate -s 1G \"$SMIME_HOME/data/smime.sqlite\""
        ),
        Case(
            "a link for the folder of keys",
            command: "sign -o out",
            status: 77,
            damage: "cd \"$SMIME_HOME\"; mv key ../elsewhere; ln -s ../elsewhere key"
        ),
        Case(
            "a pipe among the revocation lists",
            command: "verify signed.eml",
            status: 0,
            damage:
                "mkdir lists; mkfifo lists/a.crl; ln -s a.crl lists/b.crl; ln -s c.crl lists/c.crl; ln -s /dev/zero lists/d.crl; \"$SMIME\" config set revocation.directory \"$PWD/lists\""
        ),
        Case(
            "a list of a gigabyte",
            command: "verify signed.eml",
            status: 0,
            damage: "mkdir lists; truncate -s 1G lists/a.crl; \"$SMIME\" config set revocation.directory \"$PWD/lists\""
        ),
        Case(
            "a pipe among the certificates",
            command: "encrypt --no-self --to eve@example.com -o out",
            status: 69,
            damage:
                "mkdir certs; mkfifo certs/eve@example.com.pem; \"$SMIME\" config set lookup.directory \"$PWD/certs\""
        ),
    ]

    /// Files owned by another user, which only root can arrange.
    private static let foreign: [Case] = ["", "data", "data/smime.sqlite", "key/store.key", "lock"].map {
        file -> Case in
        Case(
            "another user's \(file.isEmpty ? "store" : file)",
            command: "sign -o out",
            status: 77,
            says: "belongs to another user",
            damage: "chown 12345 \"$SMIME_HOME/\(file)\""
        )
    }
}
