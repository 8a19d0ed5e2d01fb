extension StoreRole {
    /// What no right and no policy can say: a policy does not know which columns of a row change, nor from what.
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
        // A gateway learns from mail of such an author, too, and goes on.
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

    /// Statements that run `body` at each update of a row of `table` by a role that is not its owner.
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
