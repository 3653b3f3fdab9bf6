import Foundation
import TestSupport
import Testing

/// An smbd of one test's own with one share.
final class SambaServer: Sendable {
    private let state: TemporaryFolder
    private let process: RunningProcess
    let port: Int
    let user: String
    static let password = "Täglich%40Brot"

    /// What the share gives out.
    var share: String { state.appending("share") }
    var url: String { "smb://127.0.0.1:\(port)/share" }

    /// - Parameter global: lines of smb.conf's section `[global]`.
    init(global: String = "") async throws {
        let state = try TemporaryFolder()
        self.state = state
        let free = try await ProcessRun.run(
            "python3",
            ["-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"])
        port = try #require(Int(free.output.trimmingCharacters(in: .whitespacesAndNewlines)))
        user = try await ProcessRun.run("id", ["-un"]).output.trimmingCharacters(in: .whitespacesAndNewlines)
        let base = state.path
        let setup = """
            chmod 755 "$1"; cd "$1"; mkdir private lock state cache pid ncalrpc log; mkdir -m 777 share
            printf '%s\\n%s\\n' "$2" "$2" | pdbedit -s "$1/smb.conf" -t -a -u "$3"
            """
        try state.write(
            """
            [global]
            server role = standalone server
            smb ports = \(port)
            interfaces = 127.0.0.1/8
            bind interfaces only = yes
            disable netbios = yes
            private dir = \(base)/private
            lock directory = \(base)/lock
            state directory = \(base)/state
            cache directory = \(base)/cache
            pid directory = \(base)/pid
            ncalrpc dir = \(base)/ncalrpc
            passdb backend = tdbsam:\(base)/private/passdb.tdb
            load printers = no
            printing = bsd
            printcap name = /dev/null
            disable spoolss = yes
            log level = 2
            \(global)
            [share]
            path = \(base)/share
            valid users = \(user)
            \(user == "root" ? "force user = nobody" : "")
            read only = no
            create mask = 0666
            directory mask = 0777
            """, to: "smb.conf")
        let made = try await ProcessRun.run("sh", ["-c", setup, "sh", base, Self.password, user])
        try #require(made.exitCode == 0, "\(made)")
        process = try RunningProcess(
            "smbd", ["-s", base + "/smb.conf", "-l", base + "/log", "--foreground", "--no-process-group"])
        let (port, user) = (port, user)
        try await eventually("smbd answers") {
            let run = try await ProcessRun.run(
                "smbclient", ["-p", String(port), "-U", user, "//127.0.0.1/share", "-c", "ls"],
                environment: ["PASSWD": Self.password])
            return run.exitCode == 0
        }
    }

    deinit { process.signal(SIGKILL) }

    /// Ends all of smbd at once, as a crash would.
    func kill() { process.signal(SIGKILL) }

    /// Stops all of smbd where it is, as a machine that hangs.
    func freeze() { process.signal(SIGSTOP) }

    /// Lets it go on.
    func thaw() { process.signal(SIGCONT) }

    /// Writes a file of the share, last modified an hour ago: what was written a moment ago is read again.
    func write(_ path: String, _ text: String, age: TimeInterval = 3600) throws {
        let file = URL(filePath: share + "/" + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age), .posixPermissions: 0o666], ofItemAtPath: file.path)
    }

    /// The files that smbd was asked to open for reading since the last call.
    func filesRead() throws -> Set<String> {
        let path = state.appending("log/log.smbd")
        let log = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        // `nobody opened file a/b.csv read=Yes write=No (numopen=1)`, Samba's debug level 2.
        var files: Set<String> = []
        for match in log.matches(of: /opened file (.+) read=Yes/) { files.insert(String(match.1)) }
        try Data().write(to: URL(filePath: path))
        return files
    }
}

extension RemoteWorkspace where Remote == SambaServer {
    /// - Parameter global: lines of smb.conf's section `[global]`.
    static func share(global: String = "") async throws -> RemoteWorkspace {
        try RemoteWorkspace(
            of: try await SambaServer(global: global), environment: ["SHARE_PASSWORD": SambaServer.password])
    }

    /// Writes bmo.yml with these entities, in YAML, below `entities:`.
    func configure(_ entities: String, options: String = "") throws {
        try folder.write(
            """
            version: 1
            database: bmo.sqlite
            bridges:
              files:
                plugin: smb
                options: {url: "\(server.url)", user: \(server.user), password: {env: SHARE_PASSWORD}, timeout: 5\(options)}
            entities:
            """ + "\n" + entities + "\n", to: "bmo.yml")
    }
}
