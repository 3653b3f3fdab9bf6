internal import Mapping
internal import StoreContract
internal import StoreRules

/// The order of remote lists.
extension PostgreSQLTables {
    func pages(of collection: CollectionName) throws -> [CollectionPage] {
        guard let index = sql.model.index(of: collection.entity) else { return [] }
        let layout = sql.model.entities[index]
        let result = try connection.query(
            """
            SELECT page, cursor, next, is_last, request, keys FROM \(sql.own("bmo_collections"))
            WHERE entity = $1::text AND name = $2::text ORDER BY page
            """, [.text(collection.entity), .text(collection.name)],
            for: "reading a collection of \(collection.entity)")
        return (0..<result.count).map { row in
            CollectionPage(
                number: Int(result.bigint(row, 0) ?? 0), cursor: result.text(row, 1), next: result.text(row, 2),
                isLast: result.boolean(row, 3), request: result.text(row, 4) ?? "",
                keys: CollectionPage.keys(from: result.text(row, 5) ?? "", of: layout))
        }
    }

    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) throws {
        noteWritten()
        let action = "keeping a collection of \(collection.entity)"
        let name = [SQLParameter.text(collection.entity), .text(collection.name)]
        try connection.query(
            """
            DELETE FROM \(sql.own("bmo_collections"))
            WHERE entity = $1::text AND name = $2::text AND page BETWEEN $3::bigint AND $4::bigint
            """, name + [.bigint(Int64(numbers.lowerBound)), .bigint(Int64(numbers.upperBound))], for: action)
        for page in pages {
            try connection.query(
                """
                INSERT INTO \(sql.own("bmo_collections"))
                    (entity, name, page, request, cursor, next, is_last, keys, saved)
                VALUES ($1::text, $2::text, $3::bigint, $4::text, $5::text, $6::text, $7::boolean, $8::text, $9::text)
                """,
                name + [
                    .bigint(Int64(page.number)), .text(page.request), .text(page.cursor), .text(page.next),
                    .boolean(page.isLast), .text(page.keysJSON), .text(Clock.now()),
                ], for: action)
        }
    }

    func collections() throws -> [KeptCollection] {
        let result = try connection.query(
            """
            SELECT entity, name, count(*), max(saved) FROM \(sql.own("bmo_collections"))
            GROUP BY entity, name ORDER BY entity COLLATE "C", name COLLATE "C"
            """, for: "reading the collections")
        return (0..<result.count).map { row in
            KeptCollection(
                collection: CollectionName(entity: result.text(row, 0) ?? "", name: result.text(row, 1) ?? ""),
                pages: Int(result.bigint(row, 2) ?? 0), saved: result.text(row, 3) ?? "")
        }
    }
}
