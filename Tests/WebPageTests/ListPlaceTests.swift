import ImportTestSupport
import Mapping
import Model
import SQLiteStore
import StoreContract
import TestSupport
import Testing
import TextFormats
import WebServer

@testable import WebPage

/// Lists that are read page by page while their rows change.
@Suite struct ListPlaceTests {
    private let folder: TemporaryFolder
    private let store: any Store
    private let file: SQLiteFile
    private let layout: EntityLayout

    init() throws {
        folder = try TemporaryFolder()
        let model = try CompiledModel.of(
            Entity(
                "Note", key: ["id"],
                [
                    .of("id", .integer), .of("text", .text), .of("size", .decimal), .of("at", .timestamp),
                    .of("done", .boolean), .of("body", .data),
                ]))
        layout = model.entities[0]
        store = try SQLiteStores().open(folder.appending("notes.sqlite"), model: model, for: .writing)
        file = try SQLiteFile(folder.appending("notes.sqlite"))
        for id in 1...9 {
            // A third of each column is null, and values come several times.
            let text = id % 3 == 0 ? "NULL" : "'a\(id % 2)'"
            let at = id % 3 == 0 ? "NULL" : "'2026-01-0\(id % 4 + 1)T00:00:00.000000Z'"
            let body = id % 3 == 0 ? "NULL" : "x'0\(id % 2)ff'"
            _ = try file.rows(
                """
                INSERT INTO Note(id, text, size, at, done, body)
                VALUES (\(id), \(text), '\(id % 5).5', \(at), \(id % 2), \(body))
                """)
        }
    }

    private func list(_ query: String) throws -> EntityList {
        try EntityList(FormFields(query), of: layout, isExport: true)
    }

    /// The query of a list, and of the page after a row.
    private func next(_ list: EntityList, _ row: EntityRow, sort: String) -> String {
        let place = list.following(row).map { "&\($0.name)=\(PercentEncoding.encoded($0.value))" }
        return "limit=2&sort=\(sort)" + place.joined()
    }

    /// Reads all pages; `change` is called after the second.
    private func ids(sort: String, change: (Int64) throws -> Void = { _ in }) throws -> [Int64] {
        var ids: [Int64] = []
        var query = "limit=2&sort=\(sort)"
        for page in 1...10 {
            let list = try list(query)
            let rows = try list.rows(in: store)
            #expect(!rows.hasLostPlace)
            for row in rows.rows { if case .integer(let id) = row.key[0] { ids.append(id) } }
            guard rows.hasMore, let last = rows.rows.last, let id = ids.last else { break }
            query = next(list, last, sort: sort)
            if page == 2 { try change(id) }
        }
        return ids
    }

    @Test(arguments: ["", "id", "-id", "text", "-text", "size", "-size", "at", "-at", "done", "-done", "body", "-body"])
    func `all pages together have each row once`(sort: String) throws {
        #expect(try ids(sort: sort).sorted() == Array(1...9))
    }

    @Test(arguments: ["", "-id", "text", "-text", "size", "-size", "at", "-at", "done", "-done"])
    func `a row that is deleted between two pages changes nothing for the others`(sort: String) throws {
        let ids = try ids(sort: sort) { _ = try file.rows("DELETE FROM Note WHERE id = \($0)") }
        #expect(ids.sorted() == Array(1...9))
    }

    @Test(arguments: ["text", "-text"])
    func `a row that moves between two pages changes nothing for the others`(sort: String) throws {
        var moved: Int64 = 0
        let ids = try ids(sort: sort) { id in
            moved = id
            _ = try file.rows("UPDATE Note SET text = '\(sort == "text" ? "z" : "")' WHERE id = \(id)")
        }
        #expect(ids.filter { $0 != moved }.sorted() == (1...9).filter { $0 != moved })
    }

    @Test(arguments: ["text", "-text"])
    func `a value may begin with a combining mark or a joiner`(sort: String) throws {
        // U+0301 is an acute accent, and U+200D a zero-width joiner.
        _ = try file.rows("UPDATE Note SET text = char(769) || id WHERE id < 4")
        _ = try file.rows("UPDATE Note SET text = char(8205) || id WHERE id > 6")
        #expect(try ids(sort: sort).sorted() == Array(1...9))
    }

    @Test func `a page ends before a row whose key is too long for an address`() throws {
        let model = try CompiledModel.of(Entity("Word", key: ["id"], [.of("id", .text)]))
        let store = try SQLiteStores().open(folder.appending("words.sqlite"), model: model, for: .writing)
        _ = try SQLiteFile(folder.appending("words.sqlite")).rows(
            "INSERT INTO Word(id) VALUES ('a'), ('b'), (replace(hex(zeroblob(4500)), '0', 'c')), ('d')")
        func rows(_ query: String) throws -> EntityList.Rows {
            try EntityList(FormFields(query), of: model.entities[0], isExport: true).rows(in: store)
        }
        let first = try rows("limit=3")
        #expect(first.rows.map(\.key) == [[.text("a")], [.text("b")]] && first.hasMore)
        let rest = try rows("limit=3&after=b")
        #expect(rest.rows.count == 2 && rest.rows.last?.key == [.text("d")] && !rest.hasMore)
        let failure = #expect(throws: PageFailure.self) { try rows("limit=1&after=b") }
        #expect(failure?.status == 400 && failure?.description.contains("choose a larger limit") == true)
    }

    @Test func `a place by a long value is lost with the value`() throws {
        _ = try file.rows("UPDATE Note SET text = printf('%01000d', id), body = zeroblob(1000)")
        for sort in ["-text", "-body"] {
            let first = try list("limit=2&sort=\(sort)")
            let row = try #require(try first.rows(in: store).rows.last)
            let query = next(first, row, sort: sort)
            #expect(query.utf8.count < 150, "\(query)")
            let rows = try list(query).rows(in: store)
            #expect(!rows.hasLostPlace && rows.rows.first?.key != row.key)
            let key = try #require(ValueText.parts(of: row.key).first)
            _ = try file.rows("UPDATE Note SET text = 'other', body = NULL WHERE id = \(key)")
            #expect(try list(query).rows(in: store).hasLostPlace)
        }
    }

    @Test(arguments: ["after=1&after=2", "after=x", "sort=size&after=1&at=%3Dx"])
    func `a place that the list cannot have is a fault of the address`(query: String) {
        #expect(throws: (any Error).self) { try list(query).rows(in: store) }
    }
}
