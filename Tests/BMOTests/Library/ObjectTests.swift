import BMO
import Foundation
import ImportTestSupport
import StoreTestSupport
import TestSupport
import Testing

/// Objects as a program sees them: by name, as types of its own, page by page.
@Suite(.overBothStores, .namingTheStore) struct ObjectTests {
    private let world: World

    init() throws { world = try World() }

    private func loaded(_ countries: [Literal], cities: [Literal] = []) async throws -> RequestManager {
        world.change {
            $0.records = ["Country": countries, "City": cities]
            $0.pageSize = 1000
        }
        let manager = try await world.manager()
        _ = try await manager.fetch(ObjectRequest("Country")).remote
        _ = try await manager.fetch(ObjectRequest("City")).remote
        world.forget()
        return manager
    }

    private struct City: Codable, Equatable {
        var id: Int
        var name: String?
    }

    private struct Facts: Codable, Equatable {
        struct Neighbour: Codable, Equatable {
            var name: String
            var border: Decimal
        }

        var motto: String
        var neighbours: [Neighbour]
        var big: Int64
    }

    private struct Country: Codable, Equatable {
        var code: String
        var name: String
        var population: Int64
        var area: Decimal
        var share: Double
        var member: Bool
        var founded: Date
        var day: String
        var flag: Data
        var facts: Facts
        var site: URL
        var number: UUID
        var capital: City?
        var cities: [City]
    }

    private let andorra = World.country(
        "AD", "Andorra", 9_007_199_254_740_993, ("area", .decimal("467.63000000000000000001")),
        ("share", .double(0.1)), ("member", .bool(false)), ("founded", .text("1278-09-08T10:11:12.345678Z")),
        ("day", .text("1993-03-14")), ("flag", .text("AAEC/w==")),
        (
            "facts",
            .object([
                ("motto", .text("Virtus unita fortior 🏔")), ("big", .integer(.max)),
                ("neighbours", .array([.object([("name", .text("France")), ("border", .decimal("56.6"))])])),
            ])
        ), ("site", .text("https://andorra.ad/x?y=ä")), ("number", .text("6B29FC40-CA47-1067-B31D-00DD010662DA")),
        ("capital", .integer(1)),
        (
            "cities",
            .array([
                .object([("id", .integer(1)), ("name", .text("Andorra la Vella"))]), .object([("id", .integer(2))]),
            ])
        ))

    @Test func `every type is read without a loss`() async throws {
        let manager = try await loaded([andorra])
        let object = try #require(try await manager.get("Country", "AD", including: ["cities", "capital"]))
        #expect(object["population"] == 9_007_199_254_740_993)
        #expect(object["area"] == .decimal("467.63000000000000000001"))
        #expect(object["number"] == .uuid("6b29fc40-ca47-1067-b31d-00dd010662da"))
        #expect(object["nothing"] == nil)
        let country = try object.decoded(as: Country.self)
        #expect(country.population == 9_007_199_254_740_993)
        #expect(country.area == Decimal(string: "467.63000000000000000001"))
        #expect(country.share == 0.1 && country.member == false && country.day == "1993-03-14")
        #expect(country.founded.timeIntervalSince1970.rounded() == -21_815_704_128)
        #expect(country.flag == Data([0, 1, 2, 255]))
        #expect(
            country.facts
                == Facts(
                    motto: "Virtus unita fortior 🏔",
                    neighbours: [.init(name: "France", border: try #require(Decimal(string: "56.6")))], big: .max))
        #expect(country.site.absoluteString.hasPrefix("https://andorra.ad/x?y="))
        #expect(country.number.uuidString == "6B29FC40-CA47-1067-B31D-00DD010662DA")
        #expect(country.capital == City(id: 1, name: "Andorra la Vella"))
        #expect(country.cities == [City(id: 1, name: "Andorra la Vella"), City(id: 2)])
        #expect(try object.value("area", as: Decimal.self) == country.area)
        #expect(object.reference("capital") == ObjectID(entity: "City", key: [1]))
        try await manager.close()
    }

    private func words(_ body: () throws -> Void) throws -> String {
        let error = try #require(throws: DecodingError.self) { try body() }
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            return context.codingPath.map(\.stringValue).joined(separator: ".") + ": " + context.debugDescription
        @unknown default: return ""
        }
    }

    @Test func `what does not fit is an error and not rounded`() async throws {
        let manager = try await loaded([andorra])
        let object = try #require(try await manager.get("Country", "AD"))
        #expect(try words { _ = try object.value("population", as: Int32.self) }.hasSuffix("is not of type Int32"))
        #expect(
            try words { _ = try object.value("population", as: Double.self) }
                == "population: 9007199254740993 is not of type Double")
        #expect(try words { _ = try object.value("name", as: Int.self) } == "name: Andorra is not of type Int")
        #expect(try words { _ = try object.value("nam", as: Int.self) }.contains("it has code, name"))
        struct WithCities: Decodable { var cities: [City] }
        #expect(try words { _ = try object.decoded(as: WithCities.self) }.contains("was not included in the request"))
        struct WithCapital: Decodable { var capital: City }
        #expect(try words { _ = try object.decoded(as: WithCapital.self) }.contains("has to be included"))
        struct ByKey: Decodable { var capital: Int }
        #expect(try object.decoded(as: ByKey.self).capital == 1)
        try await manager.close()
    }

    @Test func `predicates sort and select`() async throws {
        let manager = try await loaded([
            World.country("A", "Alpha", 1, ("area", .decimal("9"))),
            World.country("B", "beta", 2, ("area", .decimal("10"))),
            World.country("C", "Gamma", 3, ("area", .decimal("-1.5"))), World.country("D", "Delta", 4),
        ])
        let cases: [(ObjectPredicate?, [ObjectRequest.Sort], String)] = [
            (nil, ["area"], "DCAB"), (nil, ["-area"], "BACD"), (nil, ["-name"], "BCDA"),
            (Field("area") > 9, [], "B"), (Field("area") < 10.5, [], "ABC"), (Field("area") == Decimal(9), [], "A"),
            (Field("area").isNull, [], "D"), (Field("area") == nil as Int?, [], "D"),
            (Field("area") != nil as Int?, [], "ABC"), (Field("area") != Decimal(9), [], "BCD"),
            (!(Field("area") == Decimal(9)), [], "BCD"), (Field("name").isLike("%TA"), [], "BD"),
            (Field("code").isIn(["A", "D", "X"]), [], "AD"), (Field("code").isIn([String]()), [], ""),
            (Field("population") >= 2 && Field("population") <= 3, [], "BC"),
            (Field("population") == 1 || Field("name") == "Delta" && Field("population") == 4, [], "AD"),
            (!(Field("population") > 1 && Field("area") > 0), [], "ACD"),
        ]
        for (index, (predicate, sort, expected)) in cases.enumerated() {
            let request = ObjectRequest("Country", where: predicate, sort: sort)
            let found = try await manager.objects(request).compactMap { $0["code"]?.text }.joined()
            #expect(found == expected, "case \(index)")
            let count = try await manager.count(request)
            #expect(count == expected.count, "case \(index)")
        }
        let page = try await manager.objects(ObjectRequest("Country", sort: ["-population"], limit: 2, offset: 1))
        #expect(page.compactMap { $0["code"]?.text } == ["C", "B"])
        try await manager.close()
    }

    @Test func `a predicate of any width is answered, and one of too many levels refused`() async throws {
        let manager = try await loaded([World.country("A", "Alpha", 1), World.country("B", "Beta", 2)])
        let many = ObjectPredicate.any((0..<3000).map { Field("population") == $0 })
        #expect(try await manager.count(ObjectRequest("Country", where: many)) == 2)
        let all = ObjectPredicate.all((3..<3000).map { Field("population") != $0 })
        #expect(try await manager.count(ObjectRequest("Country", where: many && all)) == 2)
        // Each operator makes a list longer, whichever side it is on.
        var chain = Field("population") == 2
        for number in 10..<400 { chain = Field("population") == number || chain }
        for _ in 0..<20_000 { chain = !chain }
        #expect(try await manager.objects(ObjectRequest("Country", where: chain)).map { $0["code"]?.text } == ["B"])

        var nested = Field("population") == 2
        for number in 10..<19 {
            let other = Field("population") == number || nested
            nested = Field("population") != number && other
        }
        #expect(try await manager.count(ObjectRequest("Country", where: nested)) == 1)
        var deep = nested
        for _ in 0..<100 { deep = .not(.all([deep])) }
        let request = ObjectRequest("Country", where: deep)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await manager.objects(request) }, { _ = try await manager.fetch(request) },
            { _ = try manager.collection(request) },
        ]
        for call in calls {
            let error = try await #require(throws: RequestError.self) { try await call() }
            #expect(error.code == "request" && error.message.hasSuffix("on more than 20 levels"), "\(error)")
        }
        try await manager.close()
    }

    @Test(arguments: [[], ["population"], ["-population"], ["area", "-name"], ["-area", "name"]] as [[String]])
    func `a cursor sees each object once in the order`(_ names: [String]) async throws {
        let manager = try await loaded(
            (0..<103).map { number in
                let area: Literal = number % 3 == 0 ? .null : .decimal("\(number % 7).50")
                return World.country("C\(1000 + number)", "N\(number % 5)", Int64(number % 4), ("area", area))
            })
        let request = ObjectRequest("Country", sort: names.map { ObjectRequest.Sort(stringLiteral: $0) })
        let whole = try await manager.objects(request).map(\.id)
        #expect(whole.count == 103)
        for pageSize in [1, 10, 103, 500] {
            var seen: [ObjectID] = []
            for try await object in manager.cursor(request, pageSize: pageSize) { seen.append(object.id) }
            #expect(seen == whole, "pages of \(pageSize)")
        }
        var limited = request
        limited.limit = 25
        limited.offset = 3
        var seen: [ObjectID] = []
        for try await object in manager.cursor(limited, pageSize: 10) { seen.append(object.id) }
        #expect(seen == Array(whole[3..<28]))
        try await manager.close()
    }

    @Test func `included objects come nested`() async throws {
        let manager = try await loaded(
            [World.country("A", "A", 1), World.country("B", "B", 2, ("capital", .integer(3)))],
            cities: [
                .object([("id", .integer(1)), ("name", "x"), ("country", "A")]),
                .object([("id", .integer(2)), ("name", "y"), ("country", "B")]),
                .object([("id", .integer(3)), ("name", "z"), ("country", "B")]),
            ])
        let request = ObjectRequest("Country", including: ["cities.country", "capital"])
        let objects = try await manager.objects(request)
        #expect(objects.map { $0.objects("cities")?.compactMap { $0["name"]?.text } ?? [] } == [["x"], ["y", "z"]])
        #expect(objects[1].objects("cities")?.first?.object("country")?["name"] == "B")
        #expect(objects[0].object("capital") == nil && objects[1].object("capital")?["id"] == 3)
        try await manager.close()
    }

    @Test func `a stub is distinguished from an object`() async throws {
        let manager = try await loaded([World.country("A", "A", 1, ("capital", .integer(7)))])
        let city = try #require(try await manager.get("City", 7))
        #expect(city.isStub && city["name"] == LocalValue.null)
        #expect(try await manager.get("City", 8) == nil)
        await #expect(throws: RequestError.self) { try await manager.get("City", "x") }
        await #expect(throws: RequestError.self) { try await manager.get("City", 1, 2) }
        try await manager.close()
    }

    @Test(.overSQLiteOnly) func `observation reports the changes of the list`() async throws {
        let manager = try await loaded([World.country("A", "A", 1), World.country("B", "B", 2)])
        var changes = try manager.observe(ObjectRequest("Country", sort: ["-population"])).makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(first.objects.map { $0["code"]?.text } == ["B", "A"] && first.difference.insertions == [0, 1])
        let file = try SQLiteFile(world.database)
        try file.rows("UPDATE Country SET population = 9 WHERE code = 'A'")
        let second = try #require(try await changes.next())
        #expect(second.objects.map { $0["code"]?.text } == ["A", "B"])
        #expect(second.difference.moves.count == 1 && second.difference.updates.count == 1)
        try await manager.close()
        #expect(try await changes.next() == nil)
    }
}
