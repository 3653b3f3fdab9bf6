import BMO
import Foundation
import ImportTestSupport
import Importer
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Entities that only come nested: `listing: none`.
@Suite(.overBothStores, .namingTheStore) struct NestedEntityTests {
    private let text = """
        version: 1
        bridges:
          numbers: {plugin: counting}
        entities:
          Number:
            bridge: numbers
            key: id
            attributes: {id: integer, name: text}
            relationships: {digits: {many: Digit, from: nested.digits}}
            counting: {count: 12}
          Digit: {listing: none, key: digit, attributes: {digit: integer}}
        """

    @Test func `their objects come with the others`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(text)
        let report = try await place.sync(workspace)
        #expect(report.succeeded)
        #expect(report.entities.map(\.name) == ["Number", "Digit"])
        #expect(try place.file().value("SELECT count(*) FROM Number") == "12")
        #expect(try place.file().value("SELECT count(*) > 0 FROM Digit") == "1")
        let before = try place.stored()
        #expect(try await place.sync(workspace).succeeded)
        #expect(try place.stored() == before)
    }

    @Test func `they cannot be synced alone`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(text)
        let store = try workspace.openStore()
        defer { try? store.close() }
        let error = try await #require(throws: StoreError.self) {
            try await workspace.sync(into: store, Workspace.SyncOptions(entities: ["Digit"]))
        }
        #expect(
            error.description
                == "Digit has no listing (\"listing: none\"): its objects are nested in those of other entities; "
                + "sync the entities whose records contain them")
    }
}
