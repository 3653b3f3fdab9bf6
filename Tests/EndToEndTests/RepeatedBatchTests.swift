import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A sync that recognises the batches of the last one has the same result as one that compares every record.
    @Suite struct RepeatedBatchTests {
        private let place: RemoteWorkspace<RemoteServer>

        init() throws {
            let server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("files.py"), "."])
            place = try RemoteWorkspace(of: server)
            for kind in ["recognised", "compared"] { try configure(kind) }
            try serve(items: Self.all)
            try serve(orders: ["{\"id\": 1, \"item\": {\"id\": 10, \"name\": \"item 10\"}}"])
        }

        private static let all = (1...3000).map { item($0) }

        private static func item(_ number: Int, name: String = "item") -> String {
            // Some records lack a member.
            let note = number % 500 == 0 ? "" : ", \"note\": \(number % 3 == 0 ? "null" : "\"note \(number)\"")"
            return "{\"id\": \(number), \"name\": \"\(name) \(number)\"\(note)}"
        }

        private func configure(_ kind: String, name: String = "name") throws {
            try place.folder.write(
                """
                version: 1
                database: \(kind).sqlite
                bridges: {api: {plugin: rest, options: {url: "\(place.server.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: {type: text, from: \(name)}, note: text}
                    writable: true
                    rest:
                      path: /items/1.json
                      records: $.items
                      paging: {style: next_url, path: $.next}
                      write: {update: {}}
                  Order:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    relationships: {item: {to: Item}}
                    rest: {path: /orders/1.json, records: $.items}
                """, to: "\(kind).yml")
        }

        private func write(_ name: String, _ pages: [[String]]) throws {
            let folder = place.server.folder.appending(name)
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (index, page) in pages.enumerated() {
                let next = index + 1 < pages.count ? "\"/\(name)/\(index + 2).json\"" : "null"
                try "{\"items\": [\(page.joined(separator: ",\n"))], \"next\": \(next)}"
                    .write(toFile: "\(folder)/\(index + 1).json", atomically: true, encoding: .utf8)
            }
        }

        private func serve(items: [String]) throws {
            let starts = stride(from: 0, to: items.count, by: 300)
            try write("items", starts.map { Array(items[$0..<min($0 + 300, items.count)]) })
        }

        private func serve(orders: [String]) throws { try write("orders", [orders]) }

        /// Runs a command for both databases: one keeps what it may recognise, the other compares all by `--full`.
        private func both(_ arguments: String...) async throws -> (recognised: ProcessRun, compared: ProcessRun) {
            let cache = place.folder.appending("cache")
            let recognised = try await place.bmo(
                arguments + ["-f", "recognised.yml"], environment: ["XDG_CACHE_HOME": cache])
            let compared = try await place.bmo(
                arguments + ["-f", "compared.yml"] + (arguments[0] == "sync" ? ["--full"] : []),
                environment: ["XDG_CACHE_HOME": cache])
            return (recognised, compared)
        }

        /// Syncs both and compares their rows, their exit codes and what they report.
        private func sync(
            _ step: String, recognises: Int?, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let (recognised, compared) = try await both("sync", "--verbose")
            #expect(recognised.exitCode == compared.exitCode, "\(step): \(recognised)", sourceLocation: sourceLocation)
            let found = recognised.allOutput.firstMatch(of: /Item: (\d+) of \d+ records came in the same bytes/)
            let count = found.map { Int($0.1) ?? 0 }
            #expect(count == recognises, "\(step): \(recognised)", sourceLocation: sourceLocation)
            #expect(!compared.allOutput.contains("same bytes"), "\(compared)", sourceLocation: sourceLocation)
            for table in ["Item", "\"Order\"", "bmo_stubs", "bmo_quarantine", "bmo_members"] {
                let columns = table == "bmo_quarantine" ? "entity, reason" : "*"
                let select = "SELECT \(columns) FROM \(table) ORDER BY 1, 2"
                let rows = try await place.query(select, in: place.folder.appending("recognised.sqlite"))
                let expected = try await place.query(select, in: place.folder.appending("compared.sqlite"))
                #expect(rows == expected, "\(step): \(table)", sourceLocation: sourceLocation)
            }
        }

        /// Undoes the last run of each, which has changed something.
        private func undoLastRun() async throws {
            for kind in ["recognised", "compared"] {
                let database = place.folder.appending("\(kind).sqlite")
                let run = try await place.query("SELECT max(id) FROM bmo_runs", in: database)
                let undo = try await place.bmo("undo", run, "-f", "\(kind).yml")
                #expect(undo.exitCode == 0, "\(undo)")
            }
        }

        private func sql(_ statement: String) async throws {
            for kind in ["recognised", "compared"] {
                let run = try await ProcessRun.run("sqlite3", [place.folder.appending("\(kind).sqlite"), statement])
                try #require(run.exitCode == 0, "\(run)")
            }
        }

        @Test func `whatever happens between two syncs, the rows are those of a whole comparison`() async throws {
            try await sync("first", recognises: nil)
            try await sync("second", recognises: 3000)
            var items = Self.all
            items[700] = Self.item(701, name: "changed")
            try serve(items: items)
            try await sync("a changed record", recognises: 2700)
            try await sync("and nothing after it", recognises: 3000)
            try await sql("UPDATE Item SET name = 'by hand' WHERE id = 500")
            try await sync("a row changed by hand", recognises: nil)
            try await sql("DELETE FROM Item WHERE id = 501")
            try await sync("a row deleted by hand", recognises: nil)
            items.insert(Self.item(9000), at: 0)
            try serve(items: items)
            try await sync("a record before all others", recognises: nil)
            try await sync("which is known then", recognises: 3001)
            items.removeSubrange(1000..<1005)
            try serve(items: items)
            try await sync("deleted records", recognises: 900)
            try serve(items: Self.all)
            // A row is missing, so the listing is read a second time, with the same bytes.
            try await sync("the first state again", recognises: 3000)
            try serve(orders: ["{\"id\": 1, \"item\": {\"id\": 10, \"name\": \"from the order\"}}"])
            try await sync("a copy in another listing", recognises: 3000)
            try await undoLastRun()
            try await sync("an undone run", recognises: 3000)
            items = Self.all
            items[42] = "{\"name\": \"without a key\"}"
            try serve(items: items)
            try await sync("a record in quarantine", recognises: 2700)
            try serve(items: Self.all)
            try await sync("which is repaired", recognises: 2700)
            try await sync("and the next", recognises: 3000)
            let edits = try await both("update", "Item", "77", "--set", "note=edited")
            #expect(edits.recognised.exitCode == 0 && edits.compared.exitCode == 0, "\(edits)")
            try await sync("a local edit that waits", recognises: nil)
            try await sync("and goes on waiting", recognises: nil)
            for kind in ["recognised", "compared"] { try configure(kind, name: "note") }
            try await sync("another mapping", recognises: nil)
        }

        @Test func `--full and --restart compare every record`() async throws {
            _ = try await both("sync")
            let quiet = try await both("sync").recognised
            #expect(!quiet.allOutput.contains("same bytes"), "only a verbose log says it: \(quiet)")
            try await sync("third", recognises: 3000)
            for option in ["--full", "--restart"] {
                let run = try await both("sync", "--verbose", option).recognised
                #expect(run.exitCode == 0 && !run.allOutput.contains("same bytes"), "\(run)")
            }
        }
    }
}
