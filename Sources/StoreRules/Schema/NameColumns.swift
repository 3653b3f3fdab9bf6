/// Where the bookkeeping has names of the configuration, which follow a rename; each store has some of these tables.
///
/// The names of sources, bridges and remote members are not among them: a configuration cannot say what they were before.
/// The summaries of runs tell what a command reported, and keep its words.
package enum NameColumns {
    /// The columns with the name of an entity in any table of the bookkeeping: the entity itself, the one that has the
    /// table, the one that was listed, and the one whose scan it was.
    package static let entities = ["entity", "root", "listing", "scan", "walk"]
    /// The tables whose entities keep their names: a round begins again when the configuration has changed.
    package static let tablesOfRounds = ["bmo_units"]
    /// The tables with edits, which have columns and lists by name in their ``EditContent``.
    package static let edits = ["bmo_outbox", "bmo_acknowledged"]
    /// The columns of these tables that have it.
    package static let editContents = ["changes", "base"]
    /// The tables of the positions of unfinished scans, whose lists and hashes have names as well.
    ///
    /// No scan goes on after the tables have changed, so that a rename of an entity or of a list empties them.
    package static let positions = ["bmo_progress", "bmo_seen", "bmo_list_owners", "bmo_waiting_lists"]
    /// The tables whose column `entity` may have the name of a sub-entity that has no rows.
    package static let namingKinds = [
        "bmo_acknowledged", "bmo_conflicts", "bmo_cursors", "bmo_members", "bmo_outbox", "bmo_quarantine",
    ]
    /// Tables, their column of the entity that has the table, and that of a sub-entity of it.
    package static let kindsOfTables = [
        (table: "bmo_outbox", root: "root", kind: "entity"), (table: "bmo_acknowledged", root: "root", kind: "entity"),
        (table: "bmo_conflicts", root: "root", kind: "entity"), (table: "bmo_members", root: "listing", kind: "entity"),
    ]
    /// The tables whose rows of an `entity` describe the rows of its table, and go when that is dropped: with the cursor of a
    /// dropped table, a scan would bring only the newest objects to a later one of its name.
    package static let describingRows = [
        "bmo_collections", "bmo_cursors", "bmo_members", "bmo_origins", "bmo_provenance", "bmo_source_scans",
        "bmo_sources", "bmo_stubs",
    ]
}
