/// The tables of bmo's own state, in the same schema as the entities' tables; their names begin with `bmo_`.
enum Bookkeeping {
    /// The number of this form of the tables; a newer bmo may have a different one.
    static let format: Int64 = 8
    /// The first form that records the tables and columns of bmo.
    static let formatWithColumns: Int64 = 4
    /// The table of shared logins; see `SecretLock`.
    static let sharedLogins = "bmo_secrets"
    /// The purpose of the row of `bmo_locks` that a transaction that writes locks.
    static let writerLock = "writer"
    /// The purpose of the row of `bmo_locks` that a worker locks while it changes its part of the limits.
    static let limitsLock = "limits"

    /// The statements that create the tables in a schema, in order.
    static func statements(in schema: String, on engine: EngineProfile) -> [String] {
        let prefix = Identifier.quoted(schema) + "."
        let text = SQLType.text.definition(on: engine)
        let entry = """
            id bigint PRIMARY KEY, entity \(text) NOT NULL, root \(text) NOT NULL, key \(text) NOT NULL,
            operation \(text) NOT NULL, changes \(text) NOT NULL, base \(text), idempotency_key \(text) NOT NULL,
            state \(text) NOT NULL, attempts bigint NOT NULL, not_before \(text), created \(text) NOT NULL,
            failure \(text), depends_on \(text) NOT NULL, has_temporary_key boolean NOT NULL,
            may_have_arrived boolean NOT NULL, runs \(text) NOT NULL, user_info \(text)
            """
        let scope = "entity \(text) NOT NULL, source \(text) NOT NULL, parent \(text) NOT NULL"
        let tables = [
            (
                "bmo_database",
                """
                id bigint PRIMARY KEY CHECK (id = 1), format bigint NOT NULL, version bigint NOT NULL,
                schema_version bigint NOT NULL, last_run bigint NOT NULL, last_change bigint NOT NULL,
                last_entry bigint NOT NULL, last_acknowledged bigint NOT NULL, last_quarantined bigint NOT NULL
                """
            ),
            // Empty: a transaction that writes locks it, so that one writes at a time. A row's lock would be written to
            // the log even if nothing else is.
            ("bmo_writers", "id bigint PRIMARY KEY"),
            ("bmo_observed", "entity \(text) PRIMARY KEY, commits bigint NOT NULL"),
            ("bmo_stubs", "entity \(text), key \(text), PRIMARY KEY (entity, key)"),
            (
                "bmo_sources",
                """
                entity \(text), key \(text), bridge \(text), scan \(text), columns \(text) NOT NULL, first_run bigint,
                last_run bigint, location \(text), is_listed boolean NOT NULL, ord bigint NOT NULL,
                PRIMARY KEY (entity, key, bridge, scan)
                """
            ),
            ("bmo_source_scans", "entity \(text), scan \(text), PRIMARY KEY (entity, scan)"),
            (
                "bmo_runs",
                """
                id bigint PRIMARY KEY, kind \(text) NOT NULL, started \(text) NOT NULL, finished \(text),
                outcome \(text) NOT NULL, summary \(text), undoes bigint
                """
            ),
            (
                "bmo_changes",
                """
                id bigint PRIMARY KEY, run bigint NOT NULL, entity \(text) NOT NULL, key \(text),
                change \(text) NOT NULL, old \(text), new \(text), bridge \(text), scan \(text), location \(text)
                """
            ),
            ("bmo_outbox", entry), ("bmo_acknowledged", entry),
            (
                "bmo_conflicts",
                """
                ord bigint PRIMARY KEY, root \(text) NOT NULL, entity \(text) NOT NULL, key \(text) NOT NULL,
                attribute \(text), base \(text), local \(text), remote \(text), seen \(text) NOT NULL
                """
            ),
            (
                "bmo_cursors",
                """
                \(scope), token \(text), newest \(text), newest_remote \(text), request \(text) NOT NULL,
                full_at \(text) NOT NULL, saved \(text) NOT NULL, PRIMARY KEY (entity, source, parent)
                """
            ),
            (
                "bmo_progress",
                """
                \(scope), cursor \(text) NOT NULL, page bigint NOT NULL, request \(text) NOT NULL, newest \(text),
                newest_remote \(text), schema_version bigint NOT NULL, saved \(text) NOT NULL, began \(text) NOT NULL,
                waiting \(text) NOT NULL, has_unknown boolean NOT NULL, repeated bytea NOT NULL,
                PRIMARY KEY (entity, source, parent)
                """
            ),
            (
                "bmo_seen",
                """
                \(scope), page bigint NOT NULL, rows bytea NOT NULL, owners \(text) NOT NULL,
                PRIMARY KEY (entity, source, parent, page)
                """
            ),
            ("bmo_origins", "entity \(text) PRIMARY KEY, origin \(text) NOT NULL"),
            (
                "bmo_orphans",
                "scan \(text), root \(text), key \(text), ord bigint GENERATED ALWAYS AS IDENTITY, "
                    + "PRIMARY KEY (scan, root, key)"
            ),
            (
                "bmo_quarantine",
                """
                id bigint PRIMARY KEY, entity \(text) NOT NULL, bridge \(text) NOT NULL, page bigint NOT NULL,
                record bigint, reason \(text) NOT NULL, representation \(text) NOT NULL, location \(text),
                cut_from bigint, first_seen \(text) NOT NULL, last_seen \(text) NOT NULL, hash bigint NOT NULL,
                source \(text), parent \(text), key \(text)
                """
            ),
            (
                "bmo_unknown_fields",
                "entity \(text), path \(text), seen \(text) NOT NULL, PRIMARY KEY (entity, path)"
            ),
            (
                "bmo_members",
                """
                listing \(text), source \(text), entity \(text), path \(text), request \(text) NOT NULL,
                is_gone boolean NOT NULL, PRIMARY KEY (listing, source, entity, path)
                """
            ),
        ]
        return tables.map { "CREATE TABLE IF NOT EXISTS \(prefix)\($0) (\($1))" } + work(in: prefix, engine)
            + locks(in: prefix, engine) + [
                columns(in: prefix, engine), collections(in: prefix, engine), models(in: prefix, engine),
                "CREATE INDEX IF NOT EXISTS bmo_changes_by_run ON \(prefix)bmo_changes (run, id)",
                "CREATE INDEX IF NOT EXISTS bmo_changes_by_key ON \(prefix)bmo_changes (entity, key, id)",
                "CREATE INDEX IF NOT EXISTS bmo_outbox_by_key ON \(prefix)bmo_outbox (root, key)",
                "CREATE INDEX IF NOT EXISTS bmo_conflicts_by_key ON \(prefix)bmo_conflicts (root, key)",
                "CREATE INDEX IF NOT EXISTS bmo_quarantine_by_hash ON \(prefix)bmo_quarantine (entity, hash)",
                """
                INSERT INTO \(prefix)bmo_database VALUES (1, \(format), 0, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING
                """,
            ]
    }

    /// The table of the columns that bmo created; see `ManagedColumns`.
    private static func columns(in prefix: String, _ engine: EngineProfile) -> String {
        let text = SQLType.text.definition(on: engine)
        return """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_columns (table_name \(text), column_name \(text), attribute \(text),
                PRIMARY KEY (table_name, column_name))
            """
    }

    /// The table of the models that the tables were adapted to; see `AdaptedModels`.
    private static func models(in prefix: String, _ engine: EngineProfile) -> String {
        let text = SQLType.text.definition(on: engine)
        return """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_models (fingerprint \(text) PRIMARY KEY,
                schema_version bigint NOT NULL, noted \(text) NOT NULL)
            """
    }

    /// The table of the pages of collections; see `CollectionStore`.
    private static func collections(in prefix: String, _ engine: EngineProfile) -> String {
        let text = SQLType.text.definition(on: engine)
        return """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_collections (entity \(text), name \(text), page bigint,
                request \(text) NOT NULL, cursor \(text), next \(text), is_last boolean NOT NULL,
                keys \(text) NOT NULL, saved \(text) NOT NULL, PRIMARY KEY (entity, name, page))
            """
    }

    /// The tables of rounds, units and workers, and of the workers' parts of the limits; see `WorkStore`.
    ///
    /// Instants are milliseconds since 1970 on the server's clock. The rows of units stay from round to round; each is
    /// updated in place as often as it changes hands, which the room in its page is for.
    private static func work(in prefix: String, _ engine: EngineProfile) -> [String] {
        let text = SQLType.text.definition(on: engine)
        return [
            """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_round (id bigint PRIMARY KEY CHECK (id = 1),
                number bigint NOT NULL, ended bigint, run bigint, loading \(text) NOT NULL, dropped \(text) NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_units (name \(text) PRIMARY KEY, position bigint NOT NULL,
                unit_group \(text) NOT NULL, entity \(text) NOT NULL, source \(text) NOT NULL, task \(text) NOT NULL,
                first_row bigint NOT NULL, last_row bigint NOT NULL, needs \(text) NOT NULL, state \(text) NOT NULL,
                owner \(text), epoch bigint NOT NULL, claims bigint NOT NULL, result \(text), sweep \(text))
                WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_workers (id \(text) PRIMARY KEY, name \(text) NOT NULL,
                started \(text) NOT NULL, lease_end bigint NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS \(prefix)bmo_shares (worker \(text) PRIMARY KEY,
                position bigint GENERATED ALWAYS AS IDENTITY, divisor bigint NOT NULL, lease_end bigint NOT NULL)
                WITH (fillfactor = 50)
            """,
            "INSERT INTO \(prefix)bmo_round VALUES (1, 0, NULL, NULL, '', '') ON CONFLICT DO NOTHING",
        ]
    }

    /// The tables that stand for locks and for the server's memory of transactions, on engines without them.
    ///
    /// A row of `bmo_locks` without a holder is locked or changed by those who ask for the lock; see `LeaseLock`.
    static func locks(in prefix: String, _ engine: EngineProfile) -> [String] {
        let text = SQLType.text.definition(on: engine)
        var statements: [String] = []
        if !engine.hasLocks {
            let purposes = [writerLock, limitsLock, "writing", "pushing"]
            let rows = purposes.map { "('\($0)', '', false, '', 0)" }.joined(separator: ", ")
            statements = [
                """
                CREATE TABLE IF NOT EXISTS \(prefix)bmo_locks (purpose \(text), holder \(text),
                    is_shared boolean NOT NULL, name \(text) NOT NULL, lease_end bigint NOT NULL,
                    PRIMARY KEY (purpose, holder))
                """,
                "INSERT INTO \(prefix)bmo_locks VALUES \(rows) ON CONFLICT DO NOTHING",
            ]
        }
        if !engine.hasTransactionStatus {
            statements.append(
                "CREATE TABLE IF NOT EXISTS \(prefix)bmo_outcomes (store \(text) PRIMARY KEY, number bigint NOT NULL)")
        }
        return statements
    }

    /// The statements that bring an earlier form of the tables to this one, in order.
    static func upgrade(in schema: String, on engine: EngineProfile) -> [String] {
        let prefix = Identifier.quoted(schema) + "."
        let text = SQLType.text.definition(on: engine)
        return work(in: prefix, engine) + [
            columns(in: prefix, engine), collections(in: prefix, engine), models(in: prefix, engine),
            "ALTER TABLE \(prefix)bmo_outbox ADD COLUMN IF NOT EXISTS user_info \(text)",
            "ALTER TABLE \(prefix)bmo_acknowledged ADD COLUMN IF NOT EXISTS user_info \(text)",
            "ALTER TABLE \(prefix)bmo_quarantine ADD COLUMN IF NOT EXISTS source \(text)",
            "ALTER TABLE \(prefix)bmo_quarantine ADD COLUMN IF NOT EXISTS parent \(text)",
            "ALTER TABLE \(prefix)bmo_quarantine ADD COLUMN IF NOT EXISTS key \(text)",
            "ALTER TABLE \(prefix)bmo_database DROP COLUMN IF EXISTS last_commit",
            "UPDATE \(prefix)bmo_database SET format = \(format)",
        ]
    }
}
