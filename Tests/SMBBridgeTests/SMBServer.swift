import CSMBClient
import Glibc
import Testing
import TestLiterals

/// A real smbd on the loopback interface, with folders of its own.
///
/// A shell holds it and waits for the end of its input, a pipe of this process: so smbd ends, and its folder goes, also
/// when the tests are killed.
final class SMBServer: @unchecked Sendable {
    // `shell` and `pipeEnd` change in `stop` and `kill` only; the suite that uses a server is serialized.
    static let shared = Result { try SMBServer() }

    let port: UInt16
    let root: String
    let user: String
    private let settings: String
    let address: String
    /// What the share `rw` gives out: anybody may write there.
    var writable: String { root + "/rw" }
    /// What the shares give out.
    var share: String { root + "/share" }
    static let password = "Täglich%40Brot"
    private var shell: pid_t = 0
    private var pipeEnd: Int32 = -1

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// - Parameters:
    ///   - settings: Lines for the section `[global]`.
    ///   - address: On the loopback interface.
    ///   - port: nil takes a free one.
    init(_ settings: String = "", address: String = "127.0.0.1", port: UInt16? = nil) throws {
        self.settings = settings
        self.address = address
        var template = Array("/tmp/bmo-smb-tests.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure(description: "mkdtemp fails: \(errno)") }
        root = String(cString: made)
        chmod(root, 0o755)
        for folder in ["private", "lock", "state", "cache", "pid", "ncalrpc", "log", "share"] {
            mkdir(root + "/" + folder, 0o755)
        }
        mkdir(root + "/rw", 0o777)
        chmod(root + "/rw", 0o777)
        user = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
        self.port = try port ?? Self.freePort()
        try Self.write(configuration, to: root + "/smb.conf")
        try Self.run(
            "printf '%s\\n%s\\n' \"$1\" \"$1\" | pdbedit -s \"$2/smb.conf\" -t -a -u \"$3\" >\"$2/log/pdbedit\" 2>&1",
            Self.password, root, user)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 else {
            throw Failure(description: "pipe fails: \(errno)")
        }
        pipeEnd = ends[1]
        let script = """
            smbd -s "$1/smb.conf" --foreground --no-process-group -l "$1/log" </dev/null >"$1/log/out" 2>&1 &
            smbd=$!
            cat >/dev/null
            trap '' TERM
            { kill -TERM "$smbd"; wait "$smbd"; kill -TERM 0; } 2>/dev/null
            chmod -R u+rwx "$1"; rm -rf "$1"
            """
        shell = try Self.spawn(script, [root], input: ends[0])
        close(ends[0])
        let limit = Self.now + 20
        while !answers {
            guard Self.now < limit else { throw Failure(description: "smbd does not answer; see \(root)/log") }
            usleep(20_000)
        }
    }

    private var configuration: String {
        """
        [global]
        server role = standalone server
        smb ports = \(port)
        interfaces = \(address)/8
        bind interfaces only = yes
        disable netbios = yes
        private dir = \(root)/private
        lock directory = \(root)/lock
        state directory = \(root)/state
        cache directory = \(root)/cache
        pid directory = \(root)/pid
        ncalrpc dir = \(root)/ncalrpc
        log file = \(root)/log/smbd.log
        passdb backend = tdbsam:\(root)/private/passdb.tdb
        map to guest = Bad User
        guest account = \(geteuid() == 0 ? "nobody" : user)
        load printers = no
        printing = bsd
        printcap name = /dev/null
        disable spoolss = yes
        \(settings)
        [rw]
        path = \(root)/rw
        valid users = \(user)
        \(geteuid() == 0 ? "force user = nobody" : "")
        read only = no
        create mask = 0666
        directory mask = 0777
        [sealed]
        path = \(root)/share
        valid users = \(user)
        \(geteuid() == 0 ? "force user = nobody" : "")
        smb encrypt = required
        [pw]
        path = \(root)/share
        valid users = \(user)
        \(geteuid() == 0 ? "force user = nobody" : "")
        read only = yes
        [guest]
        path = \(root)/share
        guest ok = yes
        read only = yes
        """
    }

    /// Ends smbd as an administrator would, and removes its folder.
    func stop() {
        guard shell > 0 else { return }
        close(pipeEnd)
        var status: Int32 = 0
        waitpid(shell, &status, 0)
        shell = 0
    }

    /// Ends smbd and all its processes at once, as a crash would.
    func kill() {
        guard shell > 0 else { return }
        Glibc.kill(-shell, SIGKILL)
        var status: Int32 = 0
        waitpid(shell, &status, 0)
        shell = 0
        close(pipeEnd)
        try? Self.run("chmod -R u+rwx \"$1\"; rm -rf \"$1\"", root)
    }

    /// Stops all processes of smbd where they are, as a machine that hangs.
    func freeze() { if shell > 0 { Glibc.kill(-shell, SIGSTOP) } }

    /// Lets them go on.
    func thaw() { if shell > 0 { Glibc.kill(-shell, SIGCONT) } }

    /// What smbstatus says of the sessions, a line each.
    func sessions() throws -> [String] {
        try Self.run("smbstatus -s \"$1/smb.conf\" -p >\"$1/log/status\" 2>/dev/null", root)
        return String(decoding: try Self.read(root + "/log/status"), as: UTF8.self)
            .split(separator: "\n").map(String.init).filter { $0.contains("SMB") }
    }

    /// A local file's content.
    static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Failure(description: "no \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// What a local folder holds, sorted.
    static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Writes a file below the share, with the folders that lead to it.
    func write(_ path: String, _ bytes: [UInt8]) throws {
        var folder = share
        for part in path.split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o755)
        }
        try Self.write(bytes, to: share + "/" + path)
    }

    func write(_ path: String, _ text: String) throws { try write(path, Array(text.utf8)) }

    /// Sets a file's modification time to some days ago: what was written a moment ago is read again by every scan.
    func age(_ path: String, days: Int = 3) {
        var times = [timespec(), timespec()]
        times[0].tv_sec = Self.now - days * 86400
        times[1].tv_sec = Self.now - days * 86400
        utimensat(AT_FDCWD, share + "/" + path, &times, 0)
    }

    /// What the file system says about a path below the share.
    func status(_ path: String) throws -> stat {
        var status = stat()
        guard stat(share + "/" + path, &status) == 0 else { throw Failure(description: "no \(path)") }
        return status
    }

    private var answers: Bool {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var target = Self.loopback(port)
        target.sin_addr.s_addr = inet_addr(address)
        return withUnsafePointer(to: &target) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) + getsockname(socket, $0, &size)
            }
        }
        guard status == 0 else { throw Failure(description: "no free port: \(errno)") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static var now: Int { time(nil) }

    static func write(_ text: String, to path: String) throws { try write(Array(text.utf8), to: path) }

    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure(description: "cannot write \(path): \(errno)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw Failure(description: "cannot write all of \(path)")
        }
        // A share's files belong to another user than the one who writes them here.
        fchmod(fileno(file), 0o666)
    }

    static func run(_ script: String, _ arguments: String...) throws {
        let child = try spawn(script, arguments, input: nil)
        var status: Int32 = 0
        waitpid(child, &status, 0)
        guard status == 0 else { throw Failure(description: "status \(status) of: \(script)") }
    }

    /// A shell in a session, and so a process group, of its own.
    private static func spawn(_ script: String, _ arguments: [String], input: Int32?) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, 0x80 /* POSIX_SPAWN_SETSID, which Glibc does not show to Swift */)
        var words: [UnsafeMutablePointer<CChar>?] = (["sh", "-c", script, "sh"] + arguments).map { strdup($0) }
        words.append(nil)
        defer { words.forEach { free($0) } }
        var child: pid_t = 0
        let status = posix_spawn(&child, "/bin/sh", &actions, &attributes, words, environ)
        guard status == 0 else { throw Failure(description: "posix_spawn fails: \(status)") }
        return child
    }
}
