import BMO
import SQLiteStore
import BridgeKit

/// A file system, as this program wants to see it.
struct Mount: Codable {
    var id: Int
    var path: String
    var type: String
    var source: String?
}

@main
struct Embedding {
    static func main() async throws {
        let definition = ModelDefinition(
            database: CommandLine.arguments.dropFirst().first ?? "mounts.sqlite",
            bridges: ["kernel": .plugin("mounts")],
            entities: [
                EntityDefinition(
                    "Mount", bridge: "kernel", key: "id",
                    attributes: ["id": .integer, "path": .text, "type": .text, "source": .text.from("device.source")])
            ])
        let manager = try await RequestManager(
            definition, stores: SQLiteStores(), bridges: [BridgeExport(MountBridge.self)])

        let fetch = try await manager.fetch(ObjectRequest("Mount", where: Field("type") == "proc"))
        print("before: \(fetch.local.count) of type proc")
        for await event in fetch.events { print("step \(event.step.rawValue): \(event.step)") }
        let result = try await fetch.remote
        print("new: \(!result.inserted.isEmpty), unchanged: \(result.unchangedCount > 0)")

        let request = ObjectRequest("Mount", where: Field("path").isIn(["/", "/proc"]), sort: ["path"])
        for mount: Mount in try await manager.values(request) { print("\(mount.path) is \(mount.type)") }
        try await manager.close()
    }
}
