import BMO
import SQLiteStore
import RESTBridge

/// A country, as this program wants to see it.
struct Country: Codable {
    var code: String
    var name: String
    var population: Int64?
    var cities: [City]
}

/// A city of a country.
struct City: Codable {
    var id: Int
    var name: String
}

@main
struct Countries {
    static func main() async throws {
        // The bridge is part of this program: there is no plugin to find.
        let manager = try await RequestManager(
            config: CommandLine.arguments.dropFirst().first ?? "countries.yml",
            stores: SQLiteStores(), bridges: [BridgeExport(RESTBridge.self)])

        // Local objects are here when `fetch` returns; meanwhile the remote is asked.
        let fetch = try await manager.fetch(ObjectRequest("Country", sort: ["-population"]))
        print("before: \(fetch.local.count) countries")
        let result = try await fetch.remote
        print("new: \(result.inserted.count), changed: \(result.updated.count)")

        let cities = try await manager.sync(.init(entities: ["City"]))
        print("sync: \(cities.succeeded ? "well" : "\(cities.entities)")")
        let big = ObjectRequest(
            "Country", where: Field("population") > 50_000_000, sort: ["name"], including: ["cities"], type: .never)
        for country: Country in try await manager.values(big) {
            print("\(country.name): \(country.cities.map(\.name).joined(separator: ", "))")
        }
        try await manager.close()
    }
}
