internal import Foundation

/// A server program of one test's own, on a free port of 127.0.0.1; stopped with the last reference.
///
/// The programs are those of Tests/Servers and of Fixtures, which a person can run by hand as well, and servers of others.
package final class RemoteServer: Sendable {
    /// The ports that the program printed.
    package let ports: [Int]
    /// Its working directory.
    package let folder: TemporaryFolder
    private let process: RunningProcess

    package var port: Int { ports[0] }
    package var url: String { "http://127.0.0.1:\(port)" }

    /// What it has printed so far.
    package var log: String { process.output + process.errorOutput }

    /// Starts a program, and returns when it has printed a line with `marker` and its port.
    ///
    /// - Parameters:
    ///   - folder: its working directory; default: one of its own.
    ///   - files: written there first, by name.
    package init(
        _ arguments: [String], in folder: TemporaryFolder? = nil, files: [String: String] = [:],
        environment: [String: String] = [:], marker: String = "port "
    ) async throws {
        let started = try RemoteServer.start(arguments, in: folder, files: files, environment: environment)
        let process = started.process
        self.process = process
        self.folder = started.folder
        do {
            ports = try await eventually("\(arguments) prints its port") {
                RemoteServer.ports(of: process, after: marker)
            }
        } catch {
            RemoteServer.end(process)
            throw error
        }
    }

    /// As the other initializer, blocking the thread: for the `init` of a suite, and for servers that tests share.
    package init(
        blocking arguments: [String], environment: [String: String] = [:], marker: String = "port "
    ) throws {
        let started = try RemoteServer.start(arguments, in: nil, files: [:], environment: environment)
        let process = started.process
        self.process = process
        folder = started.folder
        let end = ContinuousClock.now + .seconds(90)
        while true {
            if let ports = RemoteServer.ports(of: process, after: marker) {
                self.ports = ports
                return
            }
            guard ContinuousClock.now < end else {
                RemoteServer.end(process)
                throw DeadlineError(description: "\(arguments) does not print its port")
            }
            usleep(2000)
        }
    }

    deinit { stop() }

    /// Ends the program at once, as a crash does.
    package func stop() { RemoteServer.end(process) }

    private static func start(
        _ arguments: [String], in folder: TemporaryFolder?, files: [String: String], environment: [String: String]
    ) throws -> (process: RunningProcess, folder: TemporaryFolder) {
        let folder = try folder ?? TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        let process = try RunningProcess(
            arguments[0], Array(arguments.dropFirst()), environment: environment, directory: folder.path,
            holdsInput: true)
        return (process, folder)
    }

    private static func end(_ process: RunningProcess) {
        process.signal(SIGKILL)
        process.finishBlocking()
    }

    /// The numbers in the rest of the line behind the marker, once the line is whole.
    private static func ports(of process: RunningProcess, after marker: String) -> [Int]? {
        let log = marker.isEmpty ? process.output : process.output + process.errorOutput
        let start = marker.isEmpty ? log.startIndex : log.firstRange(of: marker)?.upperBound
        guard let start, let end = log[start...].firstIndex(of: "\n") else { return nil }
        let ports = log[start..<end].split { !$0.isNumber }.compactMap { Int($0) }
        return ports.isEmpty ? nil : ports
    }
}

extension RemoteServer {
    /// The path of a file of Tests/Servers.
    package static func script(_ name: String) -> String { "\(PackageFolder.path)/Tests/Servers/\(name)" }

    /// PHP's SoapServer with a script and a WSDL of Tests/Servers or another folder, in which both have the names given.
    package static func soap(
        _ script: String, _ wsdl: String, of folder: String = "Tests/Servers"
    ) async throws -> RemoteServer {
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: "\(PackageFolder.path)/\(folder)/\(name)", encoding: .utf8)
        }
        return try await php(["server.php": text(script), "service.wsdl": text(wsdl)], router: "server.php")
    }

    /// The service of Fixtures/soap-notes, whose notes can be listed, read, created, updated and deleted.
    package static func soapNotes() async throws -> RemoteServer {
        try await soap("server.php", "service.wsdl", of: "Fixtures/soap-notes")
    }

    /// PHP's built-in server with a router script.
    package static func php(_ files: [String: String], router: String) async throws -> RemoteServer {
        try await RemoteServer(
            ["php", "-d", "soap.wsdl_cache_enabled=0", "-S", "127.0.0.1:0", router], files: files,
            marker: "http://127.0.0.1:")
    }

    /// A script of Tests/Servers in Python, which prints `port N`.
    package static func python(
        _ name: String, _ arguments: String..., in folder: TemporaryFolder? = nil, interpreter: String = "python3"
    ) async throws -> RemoteServer {
        try await RemoteServer([interpreter, "-u", "-B", script(name)] + arguments, in: folder)
    }

    /// Python's server of static files, by default those of its own folder.
    package static func files(in folder: String = ".") async throws -> RemoteServer {
        try await python("files.py", folder)
    }
}
