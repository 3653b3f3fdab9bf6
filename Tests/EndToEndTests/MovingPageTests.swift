import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Numbered pages of a listing by time of change: what is changed while they are fetched moves to the end, and another
    /// record slips past the scan.
    @Suite struct MovingPageTests {
        private func serve(_ paging: String) async throws -> ScriptServer {
            let server = try await ScriptServer(Self.script)
            try server.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, changed: integer}
                    incremental: {field: changed}
                    rest: {path: /items, query: {since: "{since}"}, records: $.items, paging: \(paging)}

                """, to: "bmo.yml")
            return server
        }

        private static let pagings = [
            "{style: page, size_parameter: size, size: 100, total: $.total}",
            "{style: page, size_parameter: size, size: 100}",
            "{style: offset, size: 100, total: $.total}", "{style: offset, size: 100}",
        ]

        @Test(arguments: pagings)
        func `no row is lost where rows are changed during the first sync and a later one`(paging: String) async throws
        {
            let server = try await serve(paging)
            // The later sync begins with the newest row of the first, which is one of the three that are changed then.
            for expected in ["1211|PATCHED 3", "1211|PATCHED 5"] {
                let sync = try await server.bmo("sync")
                #expect(sync.exitCode == 0, "\(sync)")
                #expect(!sync.allOutput.contains("add to `key`"), "\(sync)")
                let rows = try await server.query(
                    "SELECT count(*) || '|PATCHED ' || sum(name LIKE 'changed%') FROM Item")
                #expect(rows == expected, "\(sync)")
                let stale = try await server.bmo("sync", "--dry-run")
                #expect(!stale.allOutput.contains("->"), "what a further sync finds is nothing: \(stale)")
                // Many rows move for the next sync, during which three more are changed.
                try server.folder.write("500", to: "touch")
            }
            let plan = try await server.bmo("plan")
            plan.expectMessages("what changed since")
        }

        @Test(arguments: pagings)
        func `rows that are deleted during the first sync go, and none is missing`(paging: String) async throws {
            let server = try await serve(paging)
            try server.folder.write("", to: "deleting")
            let sync = try await server.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try await server.query("SELECT count(*) || ' ' || min(id) FROM Item") == "1208 4", "\(sync)")
        }

        @Test func `a listing that never stands still keeps the value to ask from`() async throws {
            let server = try await serve(Self.pagings[1])
            try server.folder.write("", to: "restless")
            let sync = try await server.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            sync.expectMessages("records moved between pages while they were fetched, in each of 4 attempts")
            try await server.bmo("plan").expectMessages("nothing is known yet")
            try FileManager.default.removeItem(atPath: server.folder.appending("restless"))
            #expect(try await server.bmo("sync").exitCode == 0)
            #expect(try await server.query("SELECT count(*) > 1211 FROM Item") == "1")
            try await server.bmo("plan").expectMessages("what changed since")
        }

        private static let script = """
            import threading
            lock = threading.Lock()
            rows = {id: {"id": id, "name": f"item {id}", "changed": id} for id in range(1, 1212)}
            state = {"clock": 1211, "done": False, "next": 0}
            def change(id, name):
                state["clock"] += 1
                rows[id] = {"id": id, "name": name, "changed": state["clock"]}
            def answer(path, query):
                with lock:
                    number = int(query.get("page", 0)) or int(query.get("offset", 0)) // 100 + 1
                    if number == 1 and os.path.exists("touch"):
                        os.remove("touch")
                        for id in range(200, 700): change(id, f"touched {id}")
                        state["done"] = False
                    # The rows of the page before are read by now.
                    if number == 4 and not state["done"]:
                        state["done"] = True
                        since = int(query.get("since", 0))
                        listed = sorted((row for row in rows.values() if row["changed"] >= since), key=lambda row: row["changed"])
                        for row in listed[:3]:
                            if os.path.exists("deleting"): del rows[row["id"]]
                            else: change(row["id"], f"changed {row['id']}")
                    if number == 4 and os.path.exists("restless"):
                        # A row that comes late, with a time that the scan has passed.
                        state["next"] += 1
                        id = 5000 + state["next"]
                        rows[id] = {"id": id, "name": "late", "changed": 5}
                    since = int(query.get("since", 0))
                    listed = sorted((row for row in rows.values() if row["changed"] >= since), key=lambda row: row["changed"])
                    start = (number - 1) * 100
                    if "offset" in query: start = int(query["offset"])
                    return 200, {"items": listed[start:start + 100], "total": len(listed)}
            """
    }
}
