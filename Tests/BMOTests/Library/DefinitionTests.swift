import BridgeKit
import BridgeTestSupport
import StoreTestSupport
import TestSupport
import Testing

@testable import BMO

/// A model that is defined in code, with its database in a file or on a server.
@Suite(.overAllStores, .namingTheStore) struct DefinitionTests {
    @Test func `the database of a definition is that of its location`() async throws {
        let world = try World()
        world.change { $0.records["Country"] = World.countries(3) }
        for inserted in [3, 0] {
            let manager = try await world.manager()
            let result = try await manager.fetch(ObjectRequest("Country")).remote
            #expect(result.inserted.count == inserted, "\(StoreKind.current)")
            #expect(try await manager.count(ObjectRequest("Country")) == 3)
            try await manager.close()
            // A database in memory is gone with its manager.
            if StoreKind.current == .memory { break }
        }
        world.forget()
    }

    @Test func `a fault of a definition has no password of its database`() async throws {
        let definition = ModelDefinition(
            database: "postgresql://bmo:hunter22@127.0.0.1/bmo",
            bridges: ["world": .plugin("world")],
            entities: [EntityDefinition("Country", bridge: "world", key: "code", attributes: [:])])
        let error = try await #require(throws: ConfigurationErrors.self) {
            _ = try await RequestManager(
                definition, stores: StoreKind.sqlite.provider(), bridges: [BridgeExport(WorldBridge.self)])
        }
        #expect(error.description.contains("the definition of a database"))
        #expect(!error.description.contains("hunter22"), "\(error)")
    }
}
