import ImportTestSupport
import Mapping
import Model
import PostgreSQLStore
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// Migrations while edits wait in the outbox.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct WaitingEditTests {
    enum Change: CaseIterable, Sendable {
        case type, renamedType, attribute, target, listTarget, entity
    }

    /// The model of products, and of what they refer to.
    private static func model(after change: Change? = nil) throws -> CompiledModel {
        func entity(_ name: String) -> Entity { Entity(name, key: ["id"], [.of("id", .integer), .of("note", .text)]) }
        let size = Attribute.of("size", change == .type || change == .renamedType ? .real : .text)
        var product = Entity(
            change == .renamedType ? "Article" : "Product", key: ["id"],
            [.of("id", .integer)] + (change == .attribute ? [] : [size]),
            [
                .one("maker", change == .target ? "Other" : "Maker"),
                .many("sellers", change == .listTarget ? "Other" : "Maker"),
            ])
        if change == .renamedType { product.renamedFrom = "Product" }
        let others = [entity("Maker"), entity("Other"), entity("Unrelated")]
        return try CompiledModel(Model(entities: (change == .entity ? [] : [product]) + others))
    }

    /// A database with an edit of an object.
    private func fixture(editing entity: String, _ values: [String: StoredValue]) throws -> StoreFixture {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        try fixture.add("Product", ["id": 1, "size": "7"])
        try fixture.add("Unrelated", ["id": 1])
        _ = try fixture.store.edit([LocalEdit(.update, entity: entity, key: [.integer(1)], values: values)])
        try fixture.store.close()
        return fixture
    }

    @Test(arguments: Change.allCases) func `an edit of a changed table is in the way`(change: Change) throws {
        let fixture = try fixture(editing: "Product", ["size": .text("9.50")])
        let backup = fixture.path + "-before"
        let error = try storeError {
            _ = try PostgreSQLStores().migrate(fixture.path, to: Self.model(after: change), backup: backup)
        }
        let name = change == .renamedType ? "Article" : "Product"
        #expect(error.code == .schema)
        #expect(error.message.hasSuffix(": \(name) has 1 edit that the remote does not have yet"), "\(error)")
        #expect(error.remedy?.contains("`bmo push` sends them") == true)
        #expect(!PostgreSQLStores().exists(backup))
        try fixture.reopen()
        #expect(try fixture.store.outbox().count == 1)
        #expect(try fixture.table("Product", "size") == [["'9.50'"]])
    }

    @Test func `an edit of another table waits through a migration`() throws {
        let fixture = try fixture(editing: "Unrelated", ["note": .text("x")])
        let model = try Self.model(after: .type)
        _ = try PostgreSQLStores().migrate(fixture.path, to: model, backup: fixture.path + "-before")
        try fixture.reopen(model)
        #expect(try fixture.store.outbox().count == 1)
        #expect(try fixture.table("Product", "size") == [["7.0"]])
    }
}
