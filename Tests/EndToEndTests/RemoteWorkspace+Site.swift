import Foundation
import TestSupport
import Testing

/// A folder of JSON files behind a real HTTP server.
extension RemoteWorkspace where Remote == RemoteServer {
    static func site() async throws -> RemoteWorkspace {
        let site = try RemoteWorkspace(of: try await .files())
        try site.configure()
        return site
    }

    func stop() { server.stop() }

    /// Writes the config: countries, in whose records cities come nested, and cities by themselves.
    ///
    /// - Parameters:
    ///   - area: the type of a country's area.
    ///   - deletes: what becomes of countries and cities that the listing lacks.
    ///   - more: what stands at the top of the file.
    func configure(area: String = "real", deletes: String = "hard", more: String = "") throws {
        try folder.write(
            """
            version: 1
            \(more)
            bridges: {site: {plugin: rest, options: {url: "\(url)"}}}
            entities:
              Country:
                bridge: site
                key: code
                deletes: \(deletes)
                attributes: {code: text, name: text, area: \(area), eu: boolean}
                relationships: {cities: {many: City, inverse: country}, languages: {many: Language}}
                rest: {path: /countries.json}
              City:
                bridge: site
                key: id
                deletes: \(deletes)
                attributes: {id: integer, name: text}
                relationships: {country: {to: Country}}
                rest: {path: /cities.json}
              Language:
                bridge: site
                key: code
                attributes: {code: text, name: text}
                rest: {path: /languages.json}

            """, to: "bmo.yml")
    }

    /// Writes another config, in which `@URL@` stands for the server.
    func write(_ config: String, to name: String = "bmo.yml") throws {
        try folder.write(config.replacing("@URL@", with: url), to: name)
    }

    /// What the server has under a name from now on.
    func publish(_ json: String, as name: String) throws { try server.folder.write(json, to: name) }

    /// What the server has from now on.
    func publish(countries: String = "[]", cities: String = "[]", languages: String = "[]") throws {
        try server.folder.write(countries, to: "countries.json")
        try server.folder.write(cities, to: "cities.json")
        try server.folder.write(languages, to: "languages.json")
    }

    /// All entities' tables, as sqlite3 dumps them, in no order of rows: one that comes back may stand elsewhere.
    func tables() async throws -> [String] {
        try await ProcessRun.run(
            "sqlite3", ["-readonly", database, ".dump Country City Language Country_languages bmo_stubs"]
        ).output.split(separator: "\n").map(String.init).sorted()
    }

    /// The bytes of the database and of its log.
    func bytes() -> [Data?] { ["", "-wal"].map { FileManager.default.contents(atPath: database + $0) } }
}

extension ProcessRun {
    /// The lines of the output, without the spaces of columns.
    var words: [String] {
        output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    }
}
