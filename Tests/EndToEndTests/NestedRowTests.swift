import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Rows of arrays in arrays, which have no key of their own.
    @Suite struct NestedRowTests {
        private static let orders = """
            {"orders": [
              {"id": 7, "at": "Oslo", "lines": [{"sku": "a", "tags": [{"t": "x"}, {"t": "y"}]}, {"sku": "b"}]},
              {"id": 8, "lines": [{"sku": "a", "tags": [{"t": "x"}]}]}, {"id": 9, "lines": []}, {"id": 10}]}
            """

        @Test func `records of arrays in arrays have the key of what is around them`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Order: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /orders.json, records: "$.orders"}}
                  Line:
                    bridge: api
                    key: [order_id, position]
                    attributes:
                      order_id: {type: integer, from: "@parent.id"}
                      position: {type: integer, from: "@index"}
                      sku: text
                      at: {type: text, from: "@parent.at"}
                    relationships: {order: {to: Order, from: "@parent.id"}}
                    rest: {path: /orders.json, records: "$.orders[*].lines[*]"}
                  Tag:
                    bridge: api
                    key: [order_id, line, t]
                    attributes:
                      order_id: {type: integer, from: "@parent.@parent.id"}
                      line: {type: integer, from: "@parent.@index"}
                      t: text
                    rest: {path: /orders.json, records: "$.orders[*].lines[*].tags"}
                """)
            try site.publish(Self.orders, as: "orders.json")
            let sync = try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT * FROM Line") == "7|0|a|Oslo|7\n7|1|b|Oslo|7\n8|0|a||8", "\(sync)")
            #expect(try await site.query("SELECT * FROM Tag") == "7|0|x\n7|0|y\n8|0|x")
            try site.publish(
                #"{"orders": [{"id": 7, "lines": [{"sku": "b"}]}, {"id": 8, "lines": []}]}"#, as: "orders.json")
            try await site.expectSuccess("sync", "--allow-deletes")
            #expect(try await site.query("SELECT order_id, position, sku FROM Line") == "7|0|b")
            #expect(try await site.query("SELECT count(*) FROM Tag") == "0")
        }

        @Test func `nested objects have the key of what they are nested in`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Order:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    relationships: {lines: {many: Line, inverse: order, orphans: delete}}
                    rest: {path: /orders.json, records: "$.orders"}
                  Line:
                    bridge: api
                    key: [order_id, position]
                    deletes: ignore
                    attributes:
                      order_id: {type: integer, from: "@parent.id"}
                      position: {type: integer, from: "@index"}
                      sku: text
                      at: {type: text, from: "@parent.at"}
                    relationships: {order: {to: Order}}
                    rest: {path: /none.json}
                """)
            try site.publish(Self.orders, as: "orders.json")
            try site.publish("[]", as: "none.json")
            try await site.expectSuccess("sync")
            let rows = "SELECT order_id, position, sku, at, \"order\" FROM Line ORDER BY 1, 2"
            #expect(try await site.query(rows) == "7|0|a|Oslo|7\n7|1|b|Oslo|7\n8|0|a||8")
            try site.publish(
                #"{"orders": [{"id": 7, "lines": [{"sku": "b"}]}, {"id": 8, "lines": []}]}"#, as: "orders.json")
            try await site.expectSuccess("sync", "--allow-deletes")
            #expect(try await site.query(rows) == "7|0|b|Oslo|7", "shorter lists leave nothing behind")
            try site.publish(#"{"orders": [{"id": 8, "lines": []}]}"#, as: "orders.json")
            try await site.expectSuccess("sync", "--allow-deletes")
            #expect(try await site.query(rows) == "(no rows)", "a deleted object leaves nothing behind")
            #expect(try await site.query("SELECT id FROM \"Order\"") == "8")
            #expect(try await site.query("SELECT count(*) FROM bmo_stubs") == "0")
            let run = try await site.query("SELECT max(id) FROM bmo_runs")
            try await site.expectSuccess("undo", run.trimmingCharacters(in: .newlines))
            #expect(try await site.query(rows) == "7|0|b|Oslo|7")
        }

        @Test func `a filter of the records takes the parent's values`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                database: bmo.sqlite
                bridges: {api: {plugin: rest, options: {url: "@URL@"}}}
                entities:
                  Kind: {bridge: api, key: name, attributes: {name: text}, rest: {path: /kinds.json}}
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    relationships: {kind: {to: Kind, from: type}}
                    parent: kind
                    rest: {path: /all.json, records: "$.groups[?@.type=='{parent.name}'].items"}
                """)
            try site.publish(#"[{"name": "a"}, {"name": "b'"}]"#, as: "kinds.json")
            try site.publish(
                #"{"groups": [{"type": "a", "items": [{"id": 1}]}, {"type": "b'", "items": [{"id": 2}]}]}"#,
                as: "all.json")
            try await site.expectSuccess("sync")
            #expect(try await site.query("SELECT id, kind FROM Item") == "1|a\n2|b'")
        }
    }
}
