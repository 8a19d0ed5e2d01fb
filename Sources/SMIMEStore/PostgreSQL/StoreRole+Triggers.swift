extension StoreRole {
    /// Triggers for rules that rights and row policies cannot express: a policy knows neither which columns of a row change
    /// nor the old values.
    static let triggers =
        trigger(
            "change_counter_grows",
            on: "change_counter",
            unlessOwner: """
                IF NEW.number < OLD.number OR NEW.number > OLD.number + 1 OR NEW.form <> OLD.form
                THEN RAISE insufficient_privilege USING MESSAGE = 'permission denied: the change counter only grows';
                END IF;
                """
        )
        // A gateway must be able to update other columns of such a row without an error.
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

    /// The statements that create a trigger which runs `body` for each updated row of `table`, unless the role is the
    /// table's owner.
    private static func trigger(_ name: String, on table: String, unlessOwner body: String) -> [String] {
        [
            """
            CREATE OR REPLACE FUNCTION smime.\(name)() RETURNS trigger LANGUAGE plpgsql AS $body$
            BEGIN
                IF NOT pg_catalog.pg_has_role(
                    current_user, (SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE')
                THEN
                    \(body)
                END IF;
                RETURN NEW;
            END $body$
            """,
            "DROP TRIGGER IF EXISTS \(name) ON \(table)",
            "CREATE TRIGGER \(name) BEFORE UPDATE ON \(table) FOR EACH ROW EXECUTE FUNCTION smime.\(name)()",
        ]
    }
}
