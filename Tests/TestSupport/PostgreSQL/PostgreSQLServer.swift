import Foundation
import Synchronization

/// A PostgreSQL server of the tests' own, in a folder, on a Unix socket only.
///
/// A shell holds it and waits for the end of its input, a pipe of this process: so the server ends, and its folder goes,
/// also when the tests are killed.
package final class PostgreSQLServer: Sendable {
    /// One server for all tests of a process.
    package static let shared = Result { try PostgreSQLServer() }

    /// The folder with the programs of the newest installed version.
    private static let programs: String? = {
        let folder = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return versions.compactMap(Int.init).sorted().reversed().map { "\(folder)/\($0)/bin" }
            .first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// Whether a server is installed.
    package static var isInstalled: Bool { programs != nil }

    package struct Failure: Error {
        let what: String
    }

    /// The folder with the socket.
    package let folder: TemporaryFolder
    private let process: Process
    private let input = Pipe()
    private let count = Mutex(0)

    /// The superuser of the server.
    package static let user = "bmo"

    /// - Parameters:
    ///   - settings: Options of the server, such as `wal_level=minimal`.
    ///   - disk: The size of a file system that only the server sees, such as `6m`: the folder `disk` beside its data.
    package init(_ settings: String..., disk: String = "") throws {
        guard let programs = Self.programs else { throw Failure(what: "PostgreSQL is not installed") }
        // A program that a test starts later would hold the pipe open too, and `stop` would wait for its end.
        let end = input.fileHandleForWriting.fileDescriptor
        guard fcntl(end, F_SETFD, FD_CLOEXEC) == 0 else { throw Failure(what: "fcntl fails: \(errno)") }
        folder = try TemporaryFolder()
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            (disk.isEmpty ? [] : ["unshare", "--mount"])
            + ["bash", "-c", Self.script, "bash", folder.path, programs, Self.user, disk]
            + settings.flatMap { ["-c", $0] }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = try output.fileHandleForReading.read(upToCount: 5) ?? Data()
        guard line == Data("ready".utf8) else {
            throw Failure(what: "the server did not start: see \(folder.path)/log")
        }
    }

    deinit { stop() }

    private static let script = """
        root=$1 programs=$2 user=$3 disk=$4 as=()
        shift 4
        mkdir "$root/data" && chmod 700 "$root/data" || exit
        if [[ $(id -u) == 0 ]]; then
            # The server refuses to run as root.
            chown nobody "$root/data" && chmod 777 "$root"
            as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
        fi
        if [[ $disk ]]; then
            mkdir "$root/disk" && mount -t tmpfs -o "size=$disk,mode=777" tmpfs "$root/disk" || exit
            chown --reference="$root/data" "$root/disk"
        fi
        cd "$root"
        "${as[@]}" "$programs/initdb" -D data -A trust -U "$user" -E UTF8 --locale=C --no-sync >log 2>&1 </dev/null || exit
        "${as[@]}" "$programs/postgres" -D "$root/data" -k "$root" -c listen_addresses= -c fsync=off \
            -c max_connections=300 -c unix_socket_permissions=0777 "$@" >>log 2>&1 </dev/null &
        server=$!
        for _ in {1..300}; do
            "$programs/pg_isready" -q -h "$root" && break
            kill -0 "$server" || exit
            sleep 0.1
        done
        echo ready
        exec >/dev/null
        cat
        kill -INT "$server"
        wait "$server"
        [[ ! $disk ]] || umount "$root/disk"
        rm -rf "$root"
        """

    /// Ends the server.
    package func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the address of the database `postgres`, with options.
    package func location(_ options: String...) -> String {
        let host = folder.path.replacing("/", with: "%2F")
        return "postgresql://\(Self.user)@\(host)/postgres"
            + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    /// Returns an address with a schema that no other test uses.
    package func newLocation() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return location("schema=t\(number)")
    }

    /// Returns the schema of an address that ``newLocation()`` has made.
    package static func schema(of location: String) -> String { String(location.split(separator: "=").last ?? "") }

    /// Runs a statement with psql, another program than the store; returns the rows, with `|` between values.
    package func rows(_ sql: String) throws -> [String] {
        let psql = Process()
        psql.executableURL = URL(filePath: (Self.programs ?? "") + "/psql")
        psql.arguments = ["-X", "-q", "-At", "-h", folder.path, "-U", Self.user, "-c", sql, "postgres"]
        let output = Pipe()
        psql.standardOutput = output
        try psql.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        psql.waitUntilExit()
        guard psql.terminationStatus == 0 else { throw Failure(what: "psql fails: \(sql)") }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
