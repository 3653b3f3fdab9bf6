import Foundation
import ImportTestSupport
import Mapping
import Model
import SQLiteStore
import StoreContract
import TestSupport
import Testing

@testable import BMO

/// What a change of objects means for rows; the outbox itself has its own tests.
@Suite struct SaveTests {
    private let world: World

    init() throws { world = try World() }

    private struct City: Codable {
        var id: Int
        var name: String?
    }

    private struct Country: Codable {
        var code: String
        var name: String?
        var area: Decimal?
        var facts: [String: Int]?
        var capital: City?
        var cities: [City]?
    }

    private func withManager(_ body: (RequestManager) async throws -> Void) async throws {
        world.change {
            $0.records["Country"] = [World.country("FR", "France", 68, ("area", .decimal("543940.9")))]
        }
        let manager = try await world.manager()
        _ = try await manager.fetch(ObjectRequest("Country")).remote
        try await body(manager)
        try await manager.close()
        world.forget()
    }

    private func edits(_ edits: [ObjectEdit], _ manager: RequestManager) async throws -> [String] {
        let reader = manager.reader
        let built = try await reader.run {
            var builder = EditBuilder(reader)
            for edit in edits { try builder.add(edit) }
            return builder.edits
        }
        return built.map(\.edit).map { edit in
            let values = edit.values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.literal)" }
            let links = edit.links.map { "\($0.key)=\($0.value.map { $0.map(\.literal).joined(separator: ",") })" }
            let key = edit.key.map(\.literal).joined(separator: ",")
            return ([edit.operation.rawValue, edit.entity, key] + values + links).filter { !$0.isEmpty }
                .joined(separator: " ")
        }
    }

    @Test func `a new object comes with those inside it`() async throws {
        try await withManager { manager in
            let area = try #require(Decimal(string: "468.000000000000000000001"))
            let andorra = Country(
                code: "AD", area: area, facts: ["bears": 3], capital: City(id: 1, name: "Andorra la Vella"),
                cities: [City(id: 1, name: "Andorra la Vella"), City(id: 2)])
            let found = try await edits([try .create("Country", andorra)], manager)
            #expect(
                found == [
                    "create City id=1 name='Andorra la Vella'",
                    "create Country area='468.000000000000000000001' capital=1 code='AD' facts='{\"bears\":3}' "
                        + "cities=[\"1\", \"2\"]",
                ])
        }
    }

    @Test func `an update has what is other and no more`() async throws {
        try await withManager { manager in
            let france = ObjectID(entity: "Country", key: ["FR"])
            let same = Country(code: "FR", name: "France", area: Decimal(string: "543940.9"))
            var found = try await edits([try .update(france, same)], manager)
            #expect(found.isEmpty)
            found = try await edits(
                [.update(france, values: ["name": "Frankreich", "population": 68, "area": nil])], manager)
            #expect(found == ["update Country 'FR' area=null name='Frankreich'"])
            found = try await edits([.delete(france)], manager)
            #expect(found == ["delete Country 'FR'"])
        }
    }

    @Test func `what does not fit is refused before anything is written`() async throws {
        try await withManager { manager in
            let france = ObjectID(entity: "Country", key: ["FR"])
            let cases: [(ObjectEdit, String)] = [
                (.update(france, values: ["nme": "x"]), "has no value \"nme\""),
                (
                    .update(france, values: ["population": "many"]),
                    "Country.population: the text \"many\" is not of type integer"
                ),
                (.update(france, values: ["population": 1.5]), "1.5 is not of type integer"),
                (
                    .update(ObjectID(entity: "Country", key: ["XX"]), values: ["name": "x"]),
                    "there is no Country XX to update"
                ),
                (.update(france, values: ["cities": 1]), "leads to many objects"),
                (.delete(ObjectID(entity: "Land", key: [1])), "there is no entity \"Land\""),
            ]
            for (edit, words) in cases {
                let error = try await #require(throws: RequestError.self) { try await manager.save([edit]) }
                #expect(error.description.contains(words), "\(error)")
                #expect(error.step == .requested)
            }
            let error = try await #require(throws: RequestError.self) {
                try await manager.save([.delete(france)], workflow: .afterRemote)
            }
            #expect(error.description.contains("Country is not writable"))
        }
    }
}
