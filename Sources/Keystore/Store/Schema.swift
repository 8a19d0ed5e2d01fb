import GRDB

/// The tables of a store and the numbered migrations that lead to them.
///
/// A migration runs once, in a transaction of its own, and sets `user_version` to its number, so that a reader sees
/// with one pragma whether it knows the form. Migrations that were released are never changed; a new form is a new one.
/// `form` in a record is the version of that record's own layout, for changes that are made in batches.
enum Schema {
    /// The form this program writes.
    static let version = 2
    /// "SMIM": what makes a SQLite file a store.
    static let applicationID = 0x534D_494D

    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1", migrate: first)
        migrator.registerMigration("2", migrate: second)
        return migrator
    }()

    private static func first(_ database: Database) throws {
        for statement in certificates + accounts + registry + [stamp(1)] { try database.execute(sql: statement) }
    }

    private static func second(_ database: Database) throws {
        for statement in policy + [stamp(2)] { try database.execute(sql: statement) }
    }

    private static func stamp(_ number: Int) -> String {
        "PRAGMA user_version = \(number); PRAGMA application_id = \(applicationID)"
    }

    /// Every certificate once. `usage` has the bits of `CertificateRecord.Usage`; times are seconds since 1970.
    /// A name's key is equal for names that match, `issuer` is the very encoding that mail refers to.
    private static let certificates = [
        """
        CREATE TABLE certificate (
            id INTEGER PRIMARY KEY,
            fingerprint BLOB NOT NULL UNIQUE,
            der BLOB NOT NULL,
            subject_key BLOB NOT NULL,
            issuer BLOB NOT NULL,
            serial BLOB NOT NULL,
            key_identifier BLOB,
            not_before INTEGER NOT NULL,
            not_after INTEGER NOT NULL,
            usage INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX certificate_by_issuer_and_serial ON certificate (issuer, serial)",
        "CREATE INDEX certificate_by_key_identifier ON certificate (key_identifier)",
        "CREATE INDEX certificate_by_subject ON certificate (subject_key)",
        // A CA certificate that may stand between a leaf and an anchor.
        "CREATE TABLE intermediate (certificate INTEGER PRIMARY KEY REFERENCES certificate) STRICT",
        "CREATE TABLE anchor (certificate INTEGER PRIMARY KEY REFERENCES certificate, added INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE crl (
            fingerprint BLOB PRIMARY KEY,
            issuer_key BLOB NOT NULL,
            der BLOB NOT NULL,
            added INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX crl_by_issuer ON crl (issuer_key)",
    ]

    /// `address_key` is what addresses are compared by, `address` what people are shown. The store key is sealed by
    /// each protector; the private keys are sealed by the store key.
    private static let accounts = [
        "CREATE TABLE protector (kind TEXT PRIMARY KEY, sealed BLOB NOT NULL, parameters BLOB) STRICT",
        """
        CREATE TABLE private_key (
            certificate INTEGER PRIMARY KEY REFERENCES certificate,
            sealed BLOB NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY,
            address_key TEXT NOT NULL UNIQUE,
            address TEXT NOT NULL,
            name TEXT,
            created INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        // A further address, or `@domain`, that mail of the account is sent as.
        """
        CREATE TABLE account_alias (
            pattern_key TEXT PRIMARY KEY,
            pattern TEXT NOT NULL,
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE
        ) STRICT
        """,
        """
        CREATE TABLE identity (
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            certificate INTEGER NOT NULL REFERENCES private_key,
            assigned INTEGER NOT NULL,
            pinned INTEGER NOT NULL DEFAULT 0,
            added INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (account, certificate)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX identity_by_certificate ON identity (certificate)",
    ]

    private static let registry = [
        """
        CREATE TABLE recipient (
            address_key TEXT NOT NULL,
            certificate INTEGER NOT NULL REFERENCES certificate,
            address TEXT NOT NULL,
            source TEXT NOT NULL,
            source_detail TEXT,
            first_seen INTEGER NOT NULL,
            last_seen INTEGER NOT NULL,
            trust TEXT NOT NULL,
            capabilities BLOB,
            capabilities_time INTEGER,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (address_key, certificate)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX recipient_by_certificate ON recipient (certificate)",
        "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    ]

    /// The sending policy. `side` is that of `Policy.Scope`; the global rule has an empty pattern.
    private static let policy = [
        """
        CREATE TABLE policy_rule (
            side TEXT NOT NULL,
            pattern_key TEXT NOT NULL,
            pattern TEXT NOT NULL,
            sign TEXT,
            encrypt TEXT,
            override TEXT,
            missing TEXT,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (side, pattern_key)
        ) STRICT, WITHOUT ROWID
        """
    ]
}
