/// A role of a PostgreSQL database that is not the owner of the tables, and its rights in a store.
///
/// A gateway reads all tables, stores what it learns from mail, and writes the journal and caches. A gateway cannot change
/// accounts, keys, rules, settings, anchors, or decisions about certificates: an attacker on one gateway must not control
/// the others.
package struct StoreRole: Equatable, Sendable {
    package enum Kind: Sendable {
        case gateway
        /// Reads all tables and writes none.
        case reader
    }

    package let kind: Kind
    /// The name of the role in the database.
    package let name: String

    /// - Throws: `.unusableRole` for an empty name, and for one with characters other than ASCII letters, digits, `-`,
    ///   `_` and `.`.
    package init(_ kind: Kind, _ name: String) throws(KeystoreError) {
        let isNamed =
            !name.isEmpty && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
        guard isNamed else {
            throw .unusableRole(name: name, why: "the name of a role may have only letters, digits, '-', '_' and '.'")
        }
        (self.kind, self.name) = (kind, name)
    }

    /// The statements that grant the role its rights and revoke its other rights. The role must exist. The search path must
    /// include the tables' schema.
    package var statements: [String] {
        let role = "\"\(name)\""
        let rights =
            switch kind {
            case .gateway: Self.gatewayRights
            case .reader: [] as [String]
            }
        return ["REVOKE ALL ON ALL TABLES IN SCHEMA smime FROM \(role)", "GRANT USAGE ON SCHEMA smime TO \(role)"]
            + (["SELECT ON ALL TABLES IN SCHEMA smime"] + rights).map { "GRANT \($0) TO \(role)" } + Self.policies
            + Self.triggers
    }

    /// Grants the role its rights and revokes its other rights.
    ///
    /// - Throws: `KeystoreError.unusableRole` if the role owns the tables, because it would lose its own rights.
    func grant(in database: SQLDatabase) throws {
        let owner = "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = 'smime' AND tableowner = ?)"
        guard try database.value(owner, [name], as: Bool.self) != true else {
            throw KeystoreError.unusableRole(
                name: name,
                why: "this role owns the tables; name another role"
            )
        }
        for statement in statements { try database.execute(statement, isCounted: false) }
    }

    /// Grants the current rights to all roles that have rights in the store.
    static func renewRights(in database: SQLDatabase) throws {
        for role in try all(in: database) { try role.grant(in: database) }
    }

    /// The roles that have rights in the store.
    private static func all(in database: SQLDatabase) throws -> [StoreRole] {
        let statement = """
            SELECT rolname::text AS rolname, EXISTS (
                SELECT 1 FROM pg_class, aclexplode(relacl) AS rights
                WHERE pg_class.oid = 'smime.delivery'::regclass AND rights.grantee = pg_roles.oid
                    AND rights.privilege_type = 'INSERT') AS writes
            FROM pg_namespace, aclexplode(nspacl) AS access, pg_roles
            WHERE nspname = 'smime' AND pg_roles.oid = access.grantee AND access.privilege_type = 'USAGE'
                AND access.grantee <> nspowner
            """
        return try database.rows(statement).compactMap { row in
            let name: String = try row.value("rolname")
            return try? StoreRole(row.value("writes") ? .gateway : .reader, name)
        }
    }

    /// The tables that a gateway can only read. `verdict` is not used on a server.
    package static let readOnlyTables = [
        "account", "account_alias", "anchor", "identity", "policy_rule", "private_key", "protector", "setting",
        "store_version", "verdict",
    ]

    /// `LOCK TABLE` requires the right to update all columns of `change_counter`. The database chooses the number of a
    /// new certificate: otherwise a gateway could take the next numbers, and no other certificate could be stored.
    private static let gatewayRights = [
        """
        INSERT (fingerprint, der, subject_key, issuer, serial, key_identifier, not_before, not_after, usage, public_key,
            subject_name, issuer_name, addresses, issuer_key, issuer_hash, name_digest) ON certificate
        """,
        "INSERT ON crl, intermediate, recipient",
        "UPDATE (first_seen, last_seen, capabilities, capabilities_time) ON recipient",
        "DELETE ON crl",
        "INSERT, UPDATE (time), DELETE ON delivery",
        "INSERT, UPDATE, DELETE ON lookup_answer, ocsp_response, service_outage",
        "UPDATE ON change_counter",
    ]

    /// The rows that a role can write in tables with both learned and imported data. These policies do not apply to the
    /// owner.
    private static let policies = [
        ("recipient", "INSERT", "WITH CHECK (trust IN ('chain', 'held') AND source = 'harvest')"),
        // Certificates are looked up by fingerprint, so a row must not have the fingerprint of another certificate.
        ("certificate", "INSERT", "WITH CHECK (fingerprint = sha256(der))"), ("certificate", "SELECT", "USING (true)"),
        ("recipient", "UPDATE", "USING (true)"), ("intermediate", "INSERT", "WITH CHECK (learned = 1)"),
        ("crl", "INSERT", "WITH CHECK (fetched = 1 AND fingerprint = sha256(der))"),
        ("crl", "DELETE", "USING (fetched = 1)"),
        ("recipient", "SELECT", "USING (true)"), ("intermediate", "SELECT", "USING (true)"),
        ("crl", "SELECT", "USING (true)"),
    ].flatMap { table, verb, condition in
        let name = "smime_\(verb.lowercased())"
        return [
            "ALTER TABLE \(table) ENABLE ROW LEVEL SECURITY", "DROP POLICY IF EXISTS \(name) ON \(table)",
            "CREATE POLICY \(name) ON \(table) FOR \(verb) \(condition)",
        ]
    }
}

extension StoreRole {
    /// Triggers for rules that rights and row policies cannot express: a policy knows neither which columns of a row change
    /// nor the old values.
    ///
    /// The change counter grows to a number made of the time in milliseconds and 20 random bits; a counter that is ahead of the
    /// time grows by a random number. So a number practically never occurs again with other data, not even after an older state
    /// of the database was restored, or after a standby that lacks the last transactions became the primary.
    static let triggers =
        trigger(
            "change_counter_grows",
            on: "change_counter",
            unlessOwner: """
                IF NEW.number < OLD.number OR NEW.number > OLD.number + 1 OR NEW.form <> OLD.form
                THEN RAISE insufficient_privilege USING MESSAGE = 'permission denied: the change counter only grows';
                END IF;
                """,
            then: """
                IF NEW.number = OLD.number + 1 THEN
                    NEW.number := greatest(NEW.number,
                        (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint * 1048576)
                        + (pg_catalog.random() * 1048575)::bigint;
                END IF;
                """
        )
        // The trigger restores the old capabilities instead of failing, because a gateway must be able to update other
        // columns of the row.
        + trigger(
            "given_capabilities_stay",
            on: "recipient",
            unlessOwner: """
                IF OLD.trust IN ('pinned', 'distrusted') OR OLD.source <> 'harvest' THEN
                    NEW.capabilities := OLD.capabilities;
                    NEW.capabilities_time := OLD.capabilities_time;
                END IF;
                """
        )

    /// The statements that create a trigger for each updated row of `table`. The trigger runs `body` unless the role is the
    /// table's owner. Then it runs `rest` for every role. The search path excludes functions and operators of other roles.
    private static func trigger(
        _ name: String,
        on table: String,
        unlessOwner body: String,
        then rest: String = ""
    ) -> [String] {
        [
            """
            CREATE OR REPLACE FUNCTION smime.\(name)() RETURNS trigger LANGUAGE plpgsql
                SET search_path = pg_catalog, pg_temp AS $body$
            BEGIN
                IF NOT pg_catalog.pg_has_role(
                    current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE')
                THEN
                    \(body)
                END IF;
                \(rest)
                RETURN NEW;
            END $body$
            """,
            "DROP TRIGGER IF EXISTS \(name) ON \(table)",
            "CREATE TRIGGER \(name) BEFORE UPDATE ON \(table) FOR EACH ROW EXECUTE FUNCTION smime.\(name)()",
        ]
    }
}
