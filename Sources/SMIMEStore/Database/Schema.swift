/// The tables of a store and the numbered migrations that lead to them.
///
/// A migration runs once, in a transaction of its own, and sets `user_version` to its number, so that a reader sees
/// with one pragma whether it knows the form. Migrations that were released are never changed; a new form is a new one.
/// `form` in a record is the version of that record's own layout, for changes that are made in batches.
enum Schema {
    /// The form this program writes.
    static let version = 9
    /// "SMIM": what makes a SQLite file a store.
    static let applicationID = 0x534D_494D

    /// The statements of each migration, from the first.
    static let migrations: [[String]] = [
        certificates + accounts + registry,
        policy,
        accountHeaders,
        publicKeys + recordForms,
        gateway,
        responses,
        keyDigests,
        descriptions + verdicts,
        changes,
    ].enumerated().map { $1 + [stamp($0 + 1)] }

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

    /// What the account's encrypted mail hides: a `HeaderConfidentiality`, or null for the store's setting.
    private static let accountHeaders = ["ALTER TABLE account ADD COLUMN header_confidentiality TEXT"]

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

    /// Connects certificates for one key: `public_key` is the SHA-256 of the SubjectPublicKeyInfo, which records of
    /// version 1 do not have yet. The last index makes the search for such records fast.
    private static let publicKeys = [
        "ALTER TABLE certificate ADD COLUMN public_key BLOB",
        "CREATE INDEX certificate_by_public_key ON certificate (public_key)",
        "CREATE INDEX certificate_of_old_form ON certificate (id) WHERE form < 2",
    ]

    /// The form of the records that did not say theirs.
    private static let recordForms = ["account_alias", "anchor", "intermediate", "protector", "setting"].map {
        "ALTER TABLE \($0) ADD COLUMN form INTEGER NOT NULL DEFAULT 1"
    }

    /// Data of a gateway: rules for already protected mail, and which recipients got which message. A message is
    /// identified by the mail server's queue id and the digest of its bytes, because queue ids are reused.
    private static let gateway = [
        "ALTER TABLE policy_rule ADD COLUMN protected TEXT",
        "ALTER TABLE policy_rule ADD COLUMN decrypt_at_gateway TEXT",
        """
        CREATE TABLE handed_over (
            queue_id TEXT NOT NULL,
            digest BLOB NOT NULL,
            recipient TEXT NOT NULL,
            time INTEGER NOT NULL,
            form INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (queue_id, digest, recipient)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX handed_over_by_time ON handed_over (time)",
    ]

    /// The responders' answers: the last one about each certificate, by the SHA-256 of its issuer and serial number.
    /// The responder's signature is verified at each use; the times are those of the answer.
    private static let responses = [
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
    ]

    /// In records of version 3 `public_key` is the digest of the key itself; in version 2 it is that of one of its
    /// encodings.
    private static let keyDigests = [
        "DROP INDEX certificate_of_old_form",
        "CREATE INDEX certificate_of_old_form ON certificate (id) WHERE form < 3",
        // Data that was fetched, and may be removed automatically: lists from the network, and authorities from mail.
        "ALTER TABLE crl ADD COLUMN fetched INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE intermediate ADD COLUMN learned INTEGER NOT NULL DEFAULT 0",
        // Manual decisions: few among very many recipients.
        "CREATE INDEX recipient_decided ON recipient (certificate) WHERE trust IN ('pinned', 'distrusted')",
    ]

    /// The columns of `CertificateDescription`, for records of version 4; null in older records and in unreadable ones.
    private static let descriptions =
        [
            "subject_name TEXT", "issuer_name TEXT", "addresses TEXT", "issuer_key BLOB", "issuer_hash INTEGER",
            "name_digest BLOB",
        ].map { "ALTER TABLE certificate ADD COLUMN \($0)" } + [
            "DROP INDEX certificate_of_old_form",
            "CREATE INDEX certificate_of_old_form ON certificate (id) WHERE form < 4",
        ]

    /// The verdicts on recipients' certificates, as in `KeptVerdict`. All of this is a cache: missing and outdated
    /// verdicts are made again.
    private static let verdicts = [
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
        """
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
