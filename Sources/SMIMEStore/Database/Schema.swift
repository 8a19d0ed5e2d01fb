/// The tables of a store and the numbered migrations that lead to them.
///
/// A migration runs once, in a transaction of its own that records its number, so that a reader sees at once whether it knows the form.
/// Migrations that were released are never changed; a new form is a new one. `form` in a record is the version of that record's own layout,
/// for changes that are made in batches.
package struct Schema: Sendable {
    /// The schema of this program.
    package static let current = Schema(migrations: [tables])
    /// The form that the first migration makes, and the first that was released.
    package static let oldest = 6
    /// "SMST": what makes a SQLite file, or the tables of a server, a store.
    static let applicationID = 0x534D_5354
    /// "SMIM": the mark of what programs before the first release wrote, whose forms have the same numbers and are not read.
    static let developmentID = 0x534D_494D

    /// The statements of each migration, from `oldest` on.
    package let migrations: [[String]]

    /// The oldest form whose programs can use a store of the newest one on a server, where hosts are upgraded one after the other. Older
    /// than the newest one as long as later migrations only add what older programs need not know.
    package let serves: Int

    /// A schema with these migrations, each a list of statements.
    ///
    /// - Parameter serves: nil if no program for an older form can use it.
    package init(migrations: [[String]], serves: Int? = nil) {
        self.migrations = migrations
        self.serves = serves ?? Self.oldest + migrations.count - 1
    }

    /// The form this program writes.
    package var version: Int { Self.oldest + migrations.count - 1 }

    /// The migrations with their numbers.
    var numbered: [SQLMigration] {
        migrations.enumerated().map {
            let number = Self.oldest + $0.offset
            return SQLMigration(
                number: number,
                serves: min(number, serves),
                applicationID: Self.applicationID,
                statements: $0.element
            )
        }
    }

    private static let tables =
        certificates + accounts + recipients + policy + deliveries + evidence + lookups + changes

    /// Every certificate once, with the columns of `CertificateDescription`. `usage` has the bits of `CertificateRecord.Usage`; times
    /// are seconds since 1970. A name's key is equal for names that match, `issuer` is the very encoding that mail refers to.
    /// `public_key` is the SHA-256 of the key itself and connects certificates for one key.
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
            public_key BLOB NOT NULL,
            subject_name TEXT NOT NULL,
            issuer_name TEXT NOT NULL,
            addresses TEXT NOT NULL,
            issuer_key BLOB NOT NULL,
            issuer_hash INTEGER,
            name_digest BLOB NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX certificate_by_issuer_and_serial ON certificate (issuer, serial)",
        "CREATE INDEX certificate_by_key_identifier ON certificate (key_identifier)",
        "CREATE INDEX certificate_by_subject ON certificate (subject_key)",
        "CREATE INDEX certificate_by_public_key ON certificate (public_key)",
    ]

    /// `address_key` is what addresses are compared by, `address` what people are shown. The store key is sealed by
    /// each protector; the private keys are sealed by the store key.
    private static let accounts = [
        """
        CREATE TABLE protector (
            kind TEXT PRIMARY KEY, sealed BLOB NOT NULL, parameters BLOB, form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        """
        CREATE TABLE private_key (
            certificate INTEGER PRIMARY KEY REFERENCES certificate,
            sealed BLOB NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        // What encrypted mail hides: a `HeaderConfidentiality`, or null for the store's setting.
        """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY,
            address_key TEXT NOT NULL UNIQUE,
            address TEXT NOT NULL,
            name TEXT,
            header_confidentiality TEXT,
            created INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        // A further address, or `@domain`, that mail of the account is sent as.
        """
        CREATE TABLE account_alias (
            pattern_key TEXT PRIMARY KEY,
            pattern TEXT NOT NULL,
            account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
            form INTEGER NOT NULL DEFAULT 1
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

    private static let recipients = [
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
        // Manual decisions: few among very many recipients.
        "CREATE INDEX recipient_decided ON recipient (certificate) WHERE trust IN ('pinned', 'distrusted')",
    ]

    /// The settings, and the sending policy. `side` is that of `Policy.Scope`; the global rule has an empty pattern.
    private static let policy = [
        """
        CREATE TABLE setting (
            key TEXT PRIMARY KEY, value TEXT NOT NULL, form INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE policy_rule (
            side TEXT NOT NULL,
            pattern_key TEXT NOT NULL,
            pattern TEXT NOT NULL,
            sign TEXT,
            encrypt TEXT,
            override TEXT,
            missing TEXT,
            protected TEXT,
            decrypt_at_gateway TEXT,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (side, pattern_key)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    /// Which recipients got which message. A message is identified by the mail server's queue id and the digest of its bytes, because
    /// queue ids are reused.
    private static let deliveries = [
        """
        CREATE TABLE delivery (
            queue_id TEXT NOT NULL,
            digest BLOB NOT NULL,
            recipient TEXT NOT NULL,
            time INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (queue_id, digest, recipient)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX delivery_by_time ON delivery (time)",
    ]

    /// What certificates are judged by. Lists that were `fetched` and authorities that were `learned` may be removed automatically.
    private static let evidence = [
        // A CA certificate that may stand between a leaf and an anchor.
        """
        CREATE TABLE intermediate (
            certificate INTEGER PRIMARY KEY REFERENCES certificate,
            learned INTEGER NOT NULL DEFAULT 0,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        """
        CREATE TABLE anchor (
            certificate INTEGER PRIMARY KEY REFERENCES certificate,
            added INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        """
        CREATE TABLE crl (
            fingerprint BLOB PRIMARY KEY,
            issuer_key BLOB NOT NULL,
            der BLOB NOT NULL,
            added INTEGER NOT NULL,
            fetched INTEGER NOT NULL DEFAULT 0,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX crl_by_issuer ON crl (issuer_key)",
        // The last answer of a responder about each certificate, by the SHA-256 of its issuer and serial number. The responder's
        // signature is verified at each use; the times are those of the answer.
        """
        CREATE TABLE ocsp_response (
            certificate BLOB PRIMARY KEY,
            der BLOB NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX ocsp_response_by_end ON ocsp_response (until)",
        // The services of `OutageRecord`.
        """
        CREATE TABLE service_outage (
            url TEXT PRIMARY KEY, time INTEGER NOT NULL, form INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID
        """,
        // The verdicts on recipients' certificates, as in `KeptVerdict`. All of this is a cache: missing and outdated verdicts are made
        // again.
        """
        CREATE TABLE verdict (
            certificate INTEGER NOT NULL REFERENCES certificate ON DELETE CASCADE,
            by_pin INTEGER NOT NULL,
            basis BLOB NOT NULL,
            since INTEGER NOT NULL,
            until INTEGER NOT NULL,
            trusted INTEGER NOT NULL,
            pinned INTEGER NOT NULL,
            revocation TEXT,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (certificate, by_pin)
        ) STRICT, WITHOUT ROWID
        """,
    ]

    /// The answers of `KeptAnswer`: a cache. `certificates` has one DER behind the other, and is empty if there are none; `outage` has a
    /// reason if the source could not be asked, and then `address_key` is empty.
    private static let lookups = [
        """
        CREATE TABLE lookup_answer (
            source TEXT NOT NULL,
            address_key TEXT NOT NULL,
            time INTEGER NOT NULL,
            until INTEGER NOT NULL,
            certificates BLOB NOT NULL,
            detail TEXT NOT NULL,
            outage TEXT,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (source, address_key)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX lookup_answer_by_end ON lookup_answer (until)",
    ]

    /// The one row of `ChangeCounter`.
    private static let changes = [
        """
        CREATE TABLE change_counter (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            number INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "INSERT INTO change_counter (id, number) VALUES (1, 0)",
    ]
}
