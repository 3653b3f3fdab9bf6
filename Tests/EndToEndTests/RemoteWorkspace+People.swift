import Foundation
import ImportTestSupport
import TestSupport

/// Pages of people and teams on a real server of static files.
extension RemoteWorkspace where Remote == RemoteServer {
    static func people() throws -> RemoteWorkspace {
        let server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("files.py"), "."])
        for name in ["people", "teams"] {
            try FileManager.default.createDirectory(
                atPath: server.folder.appending(name), withIntermediateDirectories: true)
        }
        let place = try RemoteWorkspace(of: server)
        try place.write(without: { _ in false }, change: { _ in false })
        return place
    }

    /// Writes the pages, without some people and with another name for some.
    func write(without isGone: (Int) -> Bool, change isOther: (Int) -> Bool) throws {
        for (name, count, record) in [
            ("people", PeoplePages.count, PeoplePages.person), ("teams", 60, PeoplePages.team),
        ] {
            let isPeople = name == "people"
            let pages = (count + PeoplePages.size - 1) / PeoplePages.size
            for number in 1...pages {
                let items = ((number - 1) * PeoplePages.size..<min(count, number * PeoplePages.size))
                    .filter { !isPeople || !isGone($0) }
                    .map { isPeople && isOther($0) ? record($0).replacing("person", with: "other") : record($0) }
                let next = number < pages ? "\"/\(name)/\(number + 1).json\"" : "null"
                try "{\"items\": [\(items.joined(separator: ",\n"))], \"next\": \(next)}"
                    .write(
                        toFile: server.folder.appending("\(name)/\(number).json"), atomically: true, encoding: .utf8)
            }
        }
    }

    func copy(_ database: String, to other: String) throws {
        remove(other)
        try FileManager.default.copyItem(atPath: folder.appending(database), toPath: folder.appending(other))
    }

    /// Starts the command on a database.
    ///
    /// - Parameter location: The database if it is not the file `database`.
    func sync(_ database: String, location: String? = nil) throws -> RunningProcess {
        let name = database.replacing(".sqlite", with: ".yml")
        try folder.write(
            """
            version: 1
            database: \(location ?? database)
            bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
            entities:
              Person:
                bridge: api
                key: id
                attributes: {id: integer, name: text, age: integer}
                relationships: {team: {to: Team}, boss: {to: Person}, badges: {many: Badge}}
                rest: {path: /people/1.json, records: $.items, paging: {style: next_url, path: $.next}}
              Team:
                bridge: api
                key: id
                attributes: {id: integer, name: text}
                relationships: {members: {many: Person, inverse: team}}
                rest: {path: /teams/1.json, records: $.items, paging: {style: next_url, path: $.next}}
              Badge:
                bridge: api
                key: code
                attributes: {code: text}
                rest: {path: /teams/1.json, records: $.badges}
            """, to: name)
        return try start(["sync", "Person", "Team", "-f", name])
    }

    func isThere(_ database: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(database))
            && ((try? SQLiteFile(folder.appending(database)).value("SELECT count(*) FROM sqlite_schema")) ?? "0") != "0"
    }

    func remove(_ database: String) {
        for suffix in ["", "-wal", "-shm", "-lock"] {
            try? FileManager.default.removeItem(atPath: folder.appending(database + suffix))
        }
    }

    func faults(of database: String) throws -> [String] { try SQLiteFile(folder.appending(database)).faults() }

    /// All rows of all entities, links, stubs, and what is in quarantine or on its way.
    func contents(of database: String) throws -> [String] {
        let file = try SQLiteFile(folder.appending(database))
        return try [
            "Person", "Team", "Badge", "Person_badges", "bmo_stubs", "bmo_progress",
            "(SELECT entity, page, record, reason, representation FROM bmo_quarantine)",
        ].flatMap { table in
            try file.rows("SELECT * FROM \(table)").map { "\(table.prefix(16)): " + $0.joined(separator: " | ") }
                .sorted()
        }
    }
}

/// What the pages contain.
enum PeoplePages {
    static let count = 600
    /// The number of records of a page.
    static let size = 30

    /// Teams are nested, bare, and ahead of their own listing; badges belong to two people; some records are bad.
    static func person(_ number: Int) -> String {
        let team =
            number.isMultiple(of: 3) ? "{\"id\": \(number % 60), \"name\": \"team \(number % 60)\"}" : "\(number % 60)"
        let badges = (0..<number % 4).map { "\"b\((number + $0) % 90)\"" }.joined(separator: ",")
        let age = number.isMultiple(of: 97) ? "\"old\"" : "\(number % 90)"
        return "{\"id\": \(number), \"name\": \"person \(number)\", \"age\": \(age), \"team\": \(team), "
            + "\"badges\": [\(badges)], \"boss\": \(number * 7 % count)}"
    }

    static func team(_ number: Int) -> String { "{\"id\": \(number), \"name\": \"team \(number)\"}" }
}
