import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `split`: a listing whose replies are limited is requested in ranges of ids.
    @Suite struct SplitTests {
        private func place(_ split: String, _ query: String = #"{min: "{from}", max: "{to}"}"#) async throws
            -> RemoteWorkspace<RemoteServer>
        {
            let place = try await RemoteWorkspace("capped-orders.py")
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Order:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /orders, query: \(query), paging: none, split: {\(split)}}

                """, to: "bmo.yml")
            try place.folder.write("1 2 3 4 5 6 7 8 20 21", to: "orders")
            return place
        }

        private func orders(_ place: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await place.query("SELECT group_concat(id, ' ') FROM (SELECT id FROM \"Order\" ORDER BY id)")
        }

        @Test func `ranges of ids cover the listing, and what it lacks is deleted`() async throws {
            let place = try await place("end: 9, step: 3")
            try await place.expectSuccess("sync")
            #expect(
                try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8) == "1 3\n4 6\n7 9\n10 -\n")
            #expect(try await orders(place) == "1 2 3 4 5 6 7 8 20 21")
            try place.folder.write("1 2 3 4 5 7 8 20", to: "orders")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == "1 2 3 4 5 7 8 20")
        }

        @Test func `without the open range nothing counts as deleted`() async throws {
            let place = try await place("end: 30, step: 3, open: false")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == "1 2 3 4 5 6 7 8 20 21")
            try place.folder.write("1 2", to: "orders")
            let plan = try await place.expectSuccess("plan")
            #expect(!plan.output.contains("rows that a complete listing lacks"), "\(plan)")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == "1 2 3 4 5 6 7 8 20 21")
        }

        @Test func `ranges without a place in the request are a fault`() async throws {
            let place = try await place("end: 9, step: 3", #"{min: "{from}"}"#)
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2, "\(check)")
            check.expectMessages("split: the section does not use {to}", "put {from} and {to} where the API takes")
        }
    }
}
