import BMO
import BridgeKit
import SQLiteStore

/// Reads a listing of two pages with a bridge that is made of bmo's parts.
@main
struct Pages {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { return print("usage: Pages URL") }
        let definition = ModelDefinition(
            database: "pages.sqlite",
            bridges: ["world": .plugin("pages", options: ["url": .string(CommandLine.arguments[1])])],
            entities: [
                EntityDefinition(
                    "River", bridge: "world", key: "id", attributes: ["id": .integer, "name": .text],
                    section: ["path": "/rivers(-{page}).json", "paging": ["style": "next_url", "path": "$.next"]])
            ])
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(ListingBridge.self)])
        let result = try await manager.fetch(ObjectRequest("River")).remote
        print("new: \(result.inserted.count), pages: \(result.pageCount), complete: \(result.isComplete)")
        try await manager.close()
    }
}
