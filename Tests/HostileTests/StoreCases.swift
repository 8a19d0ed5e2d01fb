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

        init(_ name: String, _ command: String, _ status: Int32, says: String? = nil, _ damage: String) {
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
    private static func loose(_ table: String, _ change: String) -> String {
        sql(
            "CREATE TABLE loose AS SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE loose RENAME TO \(table); \(change)"
        )
    }

    private static let encrypt = "encrypt --no-self --to bob@example.com -o out"
    private static let filter = "filter outgoing --stdout --log none --sender alice@example.com -- bob@example.com"

    /// Modified rows.
    private static let rows: [Case] = [
        Case("sound", "sign -o out", 0, "true"),
        Case("sound to encrypt with", encrypt, 0, "true"),
        Case("a certificate that is none", "sign -o out", 78, sql("UPDATE certificate SET der = x'3000'")),
        Case("a certificate cut off", encrypt, 78, sql("UPDATE certificate SET der = substr(der, 1, 100)")),
        Case(
            "a certificate in another's place",
            "store check",
            78,
            sql(
                "UPDATE certificate SET der = (SELECT der FROM certificate JOIN anchor ON certificate = id) WHERE id = (SELECT max(certificate) FROM recipient)"
            )
        ),
        Case("a private key that is none", "sign -o out", 78, sql("UPDATE private_key SET sealed = x'00'")),
        Case(
            "a private key in another's place",
            "sign -o out",
            78,
            sql("UPDATE private_key SET sealed = (SELECT sealed FROM private_key ORDER BY certificate DESC LIMIT 1)")
        ),
        Case("a protector that is none", "sign -o out", 78, sql("UPDATE protector SET sealed = zeroblob(3)")),
        Case("no protector", "sign -o out", 78, sql("DELETE FROM protector")),
        Case(
            "a list that is none",
            "verify signed.eml",
            78,
            sql("INSERT INTO crl SELECT fingerprint, subject_key, x'3000', 1, 0, 1 FROM certificate")
        ),
        Case(
            "a responder's answer that is none",
            "verify --revocation hard signed.eml",
            1,
            sql("INSERT INTO ocsp_response SELECT fingerprint, x'3000', 1, 4000000000, 1 FROM certificate")
        ),
        Case(
            "capabilities that are none",
            "recipient show bob@example.com",
            0,
            sql("UPDATE recipient SET capabilities = x'ff'")
        ),
        Case("a missing table", filter, 75, sql("DROP TABLE policy_rule")),
        Case("a missing table of recipients", encrypt, 78, sql("DROP TABLE recipient")),
        Case("an account that is missing", "sign -o out", 67, sql("DELETE FROM account")),
        Case("an identity without its certificate", "sign -o out", 67, sql("DELETE FROM certificate")),
    ]

    /// Values of a wrong type or size.
    private static let values: [Case] = [
        Case(
            "a setting without a value",
            "config list",
            78,
            loose("setting", "INSERT INTO setting VALUES ('subject-tags', NULL, 1)")
        ),
        Case(
            "an unknown cipher",
            encrypt,
            78,
            says: "encryption.unknown",
            sql("INSERT INTO setting VALUES ('encryption.unknown', 'rot13', 1)")
        ),
        Case(
            "a time limit that is none",
            "verify --online signed.eml",
            78,
            says: "revocation.timeout",
            sql("INSERT INTO setting VALUES ('revocation.timeout', 'for ever', 1)")
        ),
        Case(
            "a setting of 2 MB",
            filter,
            75,
            sql("INSERT INTO setting VALUES ('subject-tags', hex(zeroblob(1000000)), 1)")
        ),
        Case(
            "a setting of 2 MB that is shown",
            "config list",
            0,
            sql("INSERT INTO setting VALUES ('subject-tags', hex(zeroblob(1000000)), 1)")
        ),
        Case(
            "a rule of an unknown kind",
            filter,
            75,
            loose("policy_rule", "UPDATE policy_rule SET encrypt = 'perhaps'")
        ),
        Case("a rule that is a number", filter, 75, loose("policy_rule", "UPDATE policy_rule SET encrypt = 5")),
        Case(
            "a rule with a malformed pattern",
            filter,
            75,
            loose("policy_rule", "UPDATE policy_rule SET pattern = x'ff'")
        ),
        Case("a trust of an unknown kind", encrypt, 78, sql("UPDATE recipient SET trust = 'perhaps'")),
        Case("a trust that is missing", encrypt, 78, loose("recipient", "UPDATE recipient SET trust = NULL")),
        Case(
            "an address with a line break",
            "recipient list",
            78,
            sql("UPDATE recipient SET address = 'x' || char(13, 10) || 'Bcc: y@z.test'")
        ),
        Case(
            "an account with a line break",
            "account list",
            78,
            sql("UPDATE account SET address = 'x' || char(13, 10) || 'Bcc: y@z.test'")
        ),
        Case(
            "a certificate that is a text",
            "sign -o out",
            78,
            loose("certificate", "UPDATE certificate SET der = 'text'")
        ),
        Case(
            "a certificate that is missing",
            "recipient list",
            78,
            loose("certificate", "UPDATE certificate SET der = NULL")
        ),
        Case(
            "a private key that is a number",
            "sign -o out",
            78,
            loose("private_key", "UPDATE private_key SET sealed = 7")
        ),
        Case(
            "a protector that is missing",
            "sign -o out",
            78,
            loose("protector", "UPDATE protector SET sealed = NULL")
        ),
        Case(
            "a pin that is a text",
            "account show alice@example.com",
            78,
            loose("identity", "UPDATE identity SET pinned = 'perhaps'")
        ),
        Case(
            "a time beyond all time",
            "recipient show bob@example.com --json",
            0,
            sql("UPDATE recipient SET last_seen = 9223372036854775807")
        ),
        Case(
            "a time before all time",
            "recipient show bob@example.com --json",
            0,
            sql("UPDATE recipient SET first_seen = -9223372036854775808")
        ),
        Case(
            "an identity added beyond all time",
            "account show alice@example.com --json",
            0,
            sql("UPDATE identity SET added = 9223372036854775807")
        ),
        Case("an anchor added as a text", "trust list", 78, loose("anchor", "UPDATE anchor SET added = 'perhaps'")),
    ]

    /// Files replaced by other things.
    private static let replaced: [Case] =
        ["data/smime.sqlite", "key/store.key", "lock"].flatMap { file -> [Case] in
            [
                Case(
                    "a pipe for \(file)",
                    "sign -o out",
                    77,
                    says: "is not a regular file",
                    "cd \"$SMIME_HOME\"; rm -f \(file); mkfifo -m 600 \(file)"
                ),
                Case(
                    "a link for \(file)",
                    "sign -o out",
                    77,
                    says: "is a symbolic link",
                    "cd \"$SMIME_HOME\"; mv \(file) ../elsewhere; ln -s ../../elsewhere \(file)"
                ),
                Case(
                    "a folder for \(file)",
                    "sign -o out",
                    77,
                    "cd \"$SMIME_HOME\"; rm -f \(file); mkdir -m 700 \(file)"
                ),
                Case(
                    "a device for \(file)",
                    "sign -o out",
                    77,
                    "cd \"$SMIME_HOME\"; rm -f \(file); ln -s /dev/zero \(file)"
                ),
                Case("a second name for \(file)", "sign -o out", 0, "cd \"$SMIME_HOME\"; ln \(file) ../second"),
            ]
        }

    private static let strange: [Case] = [
        Case(
            "a pipe for the log",
            "sign -o out",
            77,
            "cd \"$SMIME_HOME/data\"; rm -f smime.sqlite-wal; mkfifo -m 600 smime.sqlite-wal"
        ),
        Case(
            "a link for the log",
            "sign -o out",
            77,
            "cd \"$SMIME_HOME/data\"; rm -f smime.sqlite-wal; ln -s /dev/zero smime.sqlite-wal"
        ),
        Case(
            "garbage for the log",
            "sign -o out",
            0,
            "head -c 100000 /dev/urandom >\"$SMIME_HOME/data/smime.sqlite-wal\"; chmod 600 \"$SMIME_HOME/data/smime.sqlite-wal\""
        ),
        Case("a key file of a gigabyte", "sign -o out", 78, "truncate -s 1G \"$SMIME_HOME/key/store.key\""),
        Case(
            "a store with a gigabyte behind it",
            "store check",
            0,
            "truncate -s 1G \"$SMIME_HOME/data/smime.sqlite\""
        ),
        Case(
            "a link for the folder of keys",
            "sign -o out",
            77,
            "cd \"$SMIME_HOME\"; mv key ../elsewhere; ln -s ../elsewhere key"
        ),
        Case(
            "a pipe among the revocation lists",
            "verify signed.eml",
            0,
            "mkdir lists; mkfifo lists/a.crl; ln -s a.crl lists/b.crl; ln -s c.crl lists/c.crl; ln -s /dev/zero lists/d.crl; \"$SMIME\" config set revocation.directory \"$PWD/lists\""
        ),
        Case(
            "a list of a gigabyte",
            "verify signed.eml",
            0,
            "mkdir lists; truncate -s 1G lists/a.crl; \"$SMIME\" config set revocation.directory \"$PWD/lists\""
        ),
        Case(
            "a pipe among the certificates",
            "encrypt --no-self --to eve@example.com -o out",
            67,
            "mkdir certs; mkfifo certs/eve@example.com.pem; \"$SMIME\" config set lookup.directory \"$PWD/certs\""
        ),
    ]

    /// Files owned by another user, which only root can arrange.
    private static let foreign: [Case] = ["", "data", "data/smime.sqlite", "key/store.key", "lock"].map {
        file -> Case in
        Case(
            "another user's \(file.isEmpty ? "store" : file)",
            "sign -o out",
            77,
            says: "belongs to another user",
            "chown 12345 \"$SMIME_HOME/\(file)\""
        )
    }
}
