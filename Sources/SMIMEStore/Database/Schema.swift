/// The tables of a store, and the numbered migrations that create and change them.
///
/// Each migration runs once, in its own transaction that records its number, so that a reader knows the schema version.
/// Released migrations are never changed, not even their spaces (`differences`); a change of the tables is a new
/// migration. The column `form` of each table is the layout version of the row, so that a future change of the layout can
/// be made in batches of rows.
package struct Schema: Sendable {
    /// The schema of this program.
    package static let current = Schema(migrations: [tables])
    /// The version after the first migration, and the first version that was released.
    package static let oldest = 6
    /// "SMST": marks a SQLite file, or the tables on a server, as a store.
    static let applicationID = 0x534D_5354
    /// "SMIM": marks stores of programs before the first release. Their schema versions have the same numbers, but this
    /// program does not read them.
    static let developmentID = 0x534D_494D

    /// The statements of each migration, from `oldest` on.
    package let migrations: [[String]]

    /// The oldest schema version whose programs can use a store with the newest version on a server, where hosts are
    /// upgraded one after the other. This is older than the newest version while later migrations only add what older
    /// programs need not know.
    package let serves: Int

    /// A schema with these migrations, each a list of statements.
    ///
    /// - Parameter serves: the property `serves`; nil if no program for an older version can use the newest version.
    package init(migrations: [[String]], serves: Int? = nil) {
        self.migrations = migrations
        self.serves = serves ?? Self.oldest + migrations.count - 1
    }

    /// The schema version that this program writes.
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

    /// Each certificate once, with the columns of `CertificateDescription`. `usage` has the bits of
    /// `CertificateRecord.Usage`; times are seconds since 1970. The `_key` of a name is equal for matching names, while
    /// `issuer` is the exact encoding that messages refer to. `public_key` is the SHA-256 of the public key; certificates
    /// for the same key share it.
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

    /// `address_key` is for comparing addresses, `address` for showing them. Each protector seals the store key; the store
    /// key seals the private keys.
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
        // Which header fields encrypted mail hides: a `HeaderConfidentiality`, or null if the store's setting applies.
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
        // A further address, or `@domain`, from which mail of the account is sent.
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
        // For manual decisions, which only few of very many recipients have.
        "CREATE INDEX recipient_decided ON recipient (certificate) WHERE trust IN ('pinned', 'distrusted')",
    ]

    /// The settings, and the sending policy. `side` is the side of `Policy.Scope`; the global rule has an empty pattern.
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

    /// The recipients who have received each message. The mail server's queue ID and the digest of the bytes identify a
    /// message, because queue IDs are reused.
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

    /// The evidence for validating certificates. Lists that were `fetched` and CA certificates that were `learned` may be
    /// removed automatically.
    private static let evidence = [
        // A CA certificate that may be in a chain between a leaf and an anchor.
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
        // A revocation list. `signer_key` is the SHA-256 of the public key that signed a fetched list, which was verified when
        // the list was fetched; for an imported list it is null.
        """
        CREATE TABLE crl (
            fingerprint BLOB PRIMARY KEY,
            issuer_key BLOB NOT NULL,
            signer_key BLOB,
            der BLOB NOT NULL,
            added INTEGER NOT NULL,
            fetched INTEGER NOT NULL DEFAULT 0,
            form INTEGER NOT NULL DEFAULT 1
        ) STRICT
        """,
        "CREATE INDEX crl_by_issuer ON crl (issuer_key)",
        // The latest OCSP response about each certificate, which is an `OCSPResponse.Subject`. The responder's signature is
        // verified at each use; the times are those of the response.
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
        // The outages of `OutageRecord`.
        """
        CREATE TABLE service_outage (
            url TEXT PRIMARY KEY, time INTEGER NOT NULL, form INTEGER NOT NULL DEFAULT 1
        ) STRICT, WITHOUT ROWID
        """,
        // The verdicts on recipients' certificates, as in `StoredVerdict`. The table is a cache: missing and outdated
        // verdicts are computed again.
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

    /// A cache of the answers in `KeptAnswer`. `certificates` has concatenated DER encodings, and is empty if there are
    /// none. The column `outage` is not used: this program writes only null there, and ignores rows with a value.
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

    /// The single row of `ChangeCounter`.
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
