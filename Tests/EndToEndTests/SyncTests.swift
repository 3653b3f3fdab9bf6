import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct SyncTests {
        @Test func `the first sync makes tables that equal iso-codes`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let sync = try await workplace.bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            try await workplace.expectRows()
        }

        @Test func `a second sync writes not one byte`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let first = try await workplace.bmo("sync")
            try #require(first.exitCode == 0, "\(first)")
            let before = try FileManager.default.bytes(ofDatabase: workplace.database)

            let second = try await workplace.bmo("sync")
            #expect(second.exitCode == 0, "\(second)")
            let after = try FileManager.default.bytes(ofDatabase: workplace.database)
            #expect(before == after, "the database changed: \(before) bytes, then \(after)")
        }

        @Test func `entities that are named are synced, the others left alone`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let sync = try await workplace.bmo("sync", "Currency", "CountryName")
            #expect(sync.exitCode == 0, "\(sync)")
            try await workplace.expectRows(of: "Currency", "CountryName")
            let subdivisions = try await workplace.count("Subdivision")
            #expect((subdivisions ?? 0) == 0)
        }

        @Test(arguments: [1, 7, 249, 250])
        func `the rows are the same whatever the size of a page`(size: Int) async throws {
            let workplace = try await RemoteWorkspace.demo(countryPage: size, subdivisionPage: 2000)
            let sync = try await workplace.bmo("sync", "Country", "Subdivision")
            #expect(sync.exitCode == 0, "\(sync)")
            try await workplace.expectRows(of: "Country", "Subdivision")
        }

        @Test func `a change on a server becomes a change of that row alone`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let first = try await workplace.bmo("sync")
            try #require(first.exitCode == 0, "\(first)")

            try Data("Confoederatio Helvetica\n".utf8)
                .write(to: URL(filePath: workplace.server.share + "/countries/CH/name.txt"))
            let second = try await workplace.bmo("sync", "Document")
            #expect(second.exitCode == 0, "\(second)")
            try await workplace.expectRows()
        }

        @Test func `the JSON summary counts what the tables hold`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            for (inserted, unchanged) in [(249, 0), (0, 249)] {
                let sync = try await workplace.bmo("sync", "Country", "--json")
                try #require(sync.exitCode == 0, "\(sync)")
                let country = try #require(sync.lastObject(about: "Country"), "\(sync)")
                #expect(country["inserted"] as? Int == inserted, "\(sync)")
                #expect(country["updated"] as? Int == 0, "\(sync)")
                #expect(country["unchanged"] as? Int == unchanged, "\(sync)")
            }
        }
    }
}

extension FileManager {
    /// The database's content, and the length of its write-ahead log, where it has one.
    fileprivate func bytes(ofDatabase path: String) throws -> [Data] {
        try #require(fileExists(atPath: path))
        return ["", "-wal"].map { contents(atPath: path + $0) ?? Data() }
    }
}

extension ProcessRun {
    /// The last object in the output's JSON, one document or one a line, whose member `entity` is that name.
    func lastObject(about entity: String) -> [String: Any]? {
        func search(_ value: Any) -> [String: Any]? {
            if let list = value as? [Any] { return list.reversed().lazy.compactMap(search).first }
            guard let object = value as? [String: Any] else { return nil }
            if object["entity"] as? String == entity, object["inserted"] != nil { return object }
            return object.values.lazy.compactMap(search).first
        }
        if let whole = try? JSONSerialization.jsonObject(with: Data(output.utf8)) { return search(whole) }
        return output.split(separator: "\n").reversed().lazy
            .compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
            .compactMap(search).first
    }
}
