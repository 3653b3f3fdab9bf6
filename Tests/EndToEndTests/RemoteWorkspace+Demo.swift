import Foundation
import TestSupport
import Testing

/// A folder with the config of Fixtures/iso-codes for the servers of the demonstration.
extension RemoteWorkspace where Remote == DemoServers {
    /// Starts servers of its own and writes bmo.yml.
    ///
    /// - Parameters:
    ///   - countryPage: countries a page.
    ///   - subdivisionPage: subdivisions a page.
    ///   - share: the share's name.
    static func demo(
        countryPage: Int = 100, subdivisionPage: Int = 1000, share: String = "documents"
    ) async throws -> RemoteWorkspace {
        let servers = try await DemoServers()
        let place = try RemoteWorkspace(of: servers, environment: ["DEMO_SMB_PASSWORD": servers.smbPassword])
        let template = try String(contentsOfFile: fixture + "/bmo.yml", encoding: .utf8)
        try place.folder.write(
            template
                .replacing("@REST_URL@", with: servers.restURL)
                .replacing("@SOAP_WSDL@", with: servers.soapWSDL)
                .replacing("@SMB_URL@", with: servers.smbURL.replacing("/documents", with: "/" + share))
                .replacing("@SMB_USER@", with: servers.smbUser)
                .replacing("@COUNTRY_PAGE@", with: String(countryPage))
                .replacing("@SUBDIVISION_PAGE@", with: String(subdivisionPage)),
            to: "bmo.yml")
        return place
    }

    /// The number of rows of a table, as sqlite3 counts them; nil while there is no such table.
    func count(_ entity: String) async throws -> Int? {
        let run = try await ProcessRun.run(
            "sqlite3", ["-readonly", "-cmd", ".timeout 5000", database, "SELECT count(*) FROM \(entity)"])
        return run.exitCode == 0 ? Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines)) : nil
    }

    /// Compares whole tables with iso-codes and the shared files, both read by the fixture's Python program.
    func expectRows(of entities: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let expected = try await rows(["expected", server.share] + entities)
        let actual = try await rows(["actual", database] + entities)
        guard expected != actual else { return }
        let difference = actual.difference(from: expected)
        let lines = difference.prefix(6).map { change in
            switch change {
            case .remove(_, let line, _): "missing:    \(line)"
            case .insert(_, let line, _): "unexpected: \(line)"
            }
        }
        Issue.record(
            "\(difference.count) lines differ, the first being\n\(lines.joined(separator: "\n"))",
            sourceLocation: sourceLocation)
    }

    private func rows(_ arguments: [String]) async throws -> [Substring] {
        let run = try await ProcessRun.run("python3", [Self.fixture + "/rows.py"] + arguments)
        try #require(run.exitCode == 0, "\(run)")
        return run.output.split(separator: "\n")
    }

    private static var fixture: String { PackageFolder.path + "/Fixtures/iso-codes" }
}
