import StoreContract
import StoreTestSupport
import TestSupport

extension StoreFixture {
    /// A row or more for each table of the bookkeeping, besides those that the import of a city makes.
    private static let bookkeeping = """
        UPDATE %.bmo_database SET last_run = 1, last_entry = 1, last_change = 2, last_quarantined = 2;
        INSERT INTO %.bmo_runs VALUES (1, 'sync', 't', 't', 'finished', NULL, NULL);
        INSERT INTO %.bmo_changes VALUES
            (1, 1, 'City', '[1]', 'updated', '{"size":"a"}', '{"size":"b"}', 'remote', 'Port', NULL),
            (2, 1, 'City', '[1]', 'relinked', '{"relationship":"twins","at":0,"keys":[]}',
                '{"relationship":"twins","at":0,"keys":[[2]]}', 'remote', 'City', NULL);
        INSERT INTO %.bmo_sources VALUES
            ('City', '[1]', 'other', 'Port', '["id","quay","size"]', 1, 1, NULL, true, 0),
            ('City', '[1]', 'other', 'City', '["size"]', 1, 1, NULL, false, 1);
        INSERT INTO %.bmo_source_scans VALUES ('City', 'Port'), ('City', 'City');
        INSERT INTO %.bmo_cursors VALUES ('City', '', '', 'a', '7', '2026', 'r', 't', 't'),
            ('Port', 'wiki', '[1]', 'b', NULL, NULL, 'r', 't', 't');
        INSERT INTO %.bmo_orphans (scan, root, key) VALUES ('Port', 'City', '[2]'), ('City', 'City', '[2]');
        INSERT INTO %.bmo_outbox VALUES (1, 'Port', 'City', '[1]', 'update', '{"size":"c","twins":[[2]]}',
            '{"size":"b","twins":[]}', 'k', 'pending', 0, NULL, 't', NULL, '[]', false, false, '[1]', NULL);
        INSERT INTO %.bmo_acknowledged VALUES
            (1, 'Port', 'City', '[1]', 'update', '{"size":"b","twins":[[3]]}', '{"size":"a","twins":[]}', 'k', 'sending',
                0, NULL, 't', NULL, '[]', false, false, '[]', NULL),
            (2, 'City', 'City', '[2]', 'delete', '{}', NULL, 'k', 'sending', 0, NULL, 't', NULL, '[]', false, false, '[]',
                NULL);
        INSERT INTO %.bmo_conflicts VALUES (0, 'City', 'Port', '[1]', 'size', '"b"', '"c"', '"d"', 't'),
            (1, 'City', 'City', '[2]', 'twins', NULL, NULL, NULL, 't');
        INSERT INTO %.bmo_quarantine VALUES
            (1, 'Port', 'remote', 1, 1, 'bad', '{}', NULL, NULL, 't', 't', 7, '', '', '[9]'),
            (2, 'City', 'remote', 1, 2, 'bad', '{}', NULL, NULL, 't', 't', 8, 'wiki', '', '[8]');
        INSERT INTO %.bmo_members VALUES ('City', '', 'City', 'name', 'r', false),
            ('City', '', 'Port', 'quay', 'r', true), ('Port', 'wiki', 'Port', 'quay', 'r', false);
        INSERT INTO %.bmo_collections VALUES ('City', 'feed', 1, 'r', NULL, NULL, true, '[[1]]', 't');
        INSERT INTO %.bmo_origins VALUES ('City', 'https://a'), ('Port', 'https://b');
        INSERT INTO %.bmo_unknown_fields VALUES ('City', 'odd', 't'), ('Port', 'odd', 't');
        INSERT INTO %.bmo_observed VALUES ('City', 1), ('Port', 1) ON CONFLICT DO NOTHING;
        UPDATE %.bmo_round SET loading = E'City\\x01Port';
        INSERT INTO %.bmo_progress VALUES ('City', '', '', 'c', 1, 'r', NULL, NULL, 1, 't', 't',
            '[[["City","twins",[1]],0,[[2]],[[3]]]]', false, '');
        INSERT INTO %.bmo_seen VALUES ('City', '', '', 1, '', '[["City","twins",[1]]]')
        """

    /// A closed database with a port and a stub, whose bookkeeping has each name of ``NameChange`` in each of its tables.
    static func withWholeBookkeeping() throws -> StoreFixture {
        let fixture = try StoreFixture(overPostgreSQL: NameChange.model())
        try fixture.add("City", ["id": 1, "size": "b", "quay": "q", "twins": [2]])
        try fixture.store.close()
        _ = try fixture.server.rows(bookkeeping.replacing("%", with: fixture.schema))
        return fixture
    }
}
