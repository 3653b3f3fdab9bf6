import Foundation

/// The three real servers of Scripts/servers, of one test's own: on free loopback ports, stopped with the last reference.
package final class DemoServers: Sendable {
    /// One of the servers, as Scripts/servers names it.
    package enum Server: String, Sendable {
        case rest, soap, smb
    }

    /// The root of the JSON API.
    package let restURL: String
    /// The URL of the SOAP service's description.
    package let soapWSDL: String
    /// The URL of the share, without user and password.
    package let smbURL: String
    /// The share's user.
    package let smbUser: String
    /// That user's password.
    package let smbPassword: String
    /// The folder that is shared.
    package var share: String { folder.appending("share") }

    private let folder: TemporaryFolder
    private static let script = PackageFolder.path + "/Scripts/servers"

    /// Starts them all and returns when each answers.
    ///
    /// - Parameter token: a bearer token that the REST server asks for.
    package init(token: String = "") async throws {
        let folder = try TemporaryFolder()
        let start = try await ProcessRun.run(
            Self.script, ["start", folder.path], environment: ["DEMO_TOKEN": token])
        guard start.exitCode == 0 else { throw ServersError(run: start) }
        let lines = try String(contentsOfFile: folder.appending("env"), encoding: .utf8).split(separator: "\n")
        let values = Dictionary(
            lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            },
            uniquingKeysWith: { $1 })
        self.folder = folder
        restURL = values["REST_URL"] ?? ""
        soapWSDL = values["SOAP_WSDL"] ?? ""
        smbURL = values["SMB_URL"] ?? ""
        smbUser = values["SMB_USER"] ?? ""
        smbPassword = values["SMB_PASSWORD"] ?? ""
    }

    deinit {
        (try? RunningProcess(Self.script, ["stop", folder.path]))?.finishBlocking()
    }

    /// Stops one of them for good.
    package func stop(_ server: Server) async throws {
        let stop = try await ProcessRun.run(Self.script, ["stop", folder.path, server.rawValue])
        guard stop.exitCode == 0 else { throw ServersError(run: stop) }
    }

    /// Asks for faults: lines as Examples/demo/rest.php and soap.php explain them; none: behave.
    package func misbehave(_ faults: String...) throws {
        try folder.write(faults.map { $0 + "\n" }.joined(), to: "faults")
    }
}

/// Scripts/servers failed.
package struct ServersError: Error, CustomStringConvertible {
    let run: ProcessRun

    /// The script's own words.
    package var description: String { "\(run)" }
}

/// Where this package's sources are.
package enum PackageFolder {
    /// Its absolute path: three folders above this file.
    package static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
}
