import BMO
import Foundation
import Glibc
import TestSupport
import Testing

/// Real changes of links and routes, in a network namespace of the test's own, so that the machine's network stays.
@Suite struct NetlinkTests {
    /// Whether this user may have such a namespace, with a pair of virtual links.
    private static let hasNamespaces = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "-rn", "ip", "link", "add", "left", "type", "veth", "peer", "name", "right"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Sets links up and down while the program runs, and prints the lines that it waits for.
    private static let script = """
        set -eu
        # The server is in another namespace, behind the link.
        exec 4< <(exec unshare -n sh -c 'echo ready; exec sleep 300')
        there=$!
        read -r -t 30 <&4
        ip link set lo up
        ip link add left type veth peer name right netns $there
        there() { nsenter -t $there -n "$@"; }
        there ip addr add 10.9.8.2/24 dev right
        there ip link set right up
        ip addr add 10.9.8.1/24 dev left
        exec 3< <(exec nsenter -t $there -n python3 -u -c '
        import http.server, socketserver
        class Notes(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_): pass
            def do_GET(self):
                body = b"[{\\"id\\": 1}, {\\"id\\": 2}]"
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
        server = socketserver.TCPServer(("0.0.0.0", 8080), Notes)
        print("ready", flush=True)
        server.serve_forever()
        ')
        server=$!
        trap 'kill $server $there 2>/dev/null || true' EXIT
        read -r -t 30 <&3
        coproc program { exec "$0" http://10.9.8.2:8080; }
        ask() { echo >&"${program[1]}"; }
        # Waits for a line, and prints it; others that come before it are printed in brackets.
        sees() {
            while read -r -t 30 line <&"${program[0]}"; do
                if [[ $line == "$1" ]]; then echo "$line" && return; fi
                echo "($line)"
            done
            echo "no line: $1"
        }
        sees 'network: unavailable'
        ask
        sees 'fetch: waits, unreachable'
        ip link set left up
        ip route add default via 10.9.8.2
        sees 'network: available'
        sees 'fetch: 2 new'
        echo 'the link loses its carrier'
        there ip link set right down
        sees 'network: unavailable'
        there ip link set right up
        sees 'network: available'
        echo 'the route goes'
        ip route del default
        sees 'network: unavailable'
        ip route add default via 10.9.8.2
        sees 'network: available'
        echo 'the link goes down, with its routes'
        ip link set left down
        sees 'network: unavailable'
        ask
        sees 'fetch: waits, unreachable'
        ip link set left up
        ip -6 route add default dev left
        sees 'network: available'
        sees 'fetch: 0 new'
        echo 'the server ends'
        kill $server
        # It is gone when its output ends.
        cat <&3
        ask
        sees 'fetch: fails, unreachable'
        """

    @Test(.enabled(if: hasNamespaces, "unshare -rn and ip cannot make a network namespace with virtual links here"))
    func `requests wait while the system has no route, and go on when it has one`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ProcessRun.run(
            "/usr/bin/env", ["unshare", "-rn", "bash", "-c", Self.script, try Products.path(of: "NetworkProgram")],
            directory: folder.path, within: .seconds(120))
        let lines = """
            network: unavailable
            fetch: waits, unreachable
            network: available
            fetch: 2 new
            the link loses its carrier
            network: unavailable
            network: available
            the route goes
            network: unavailable
            network: available
            the link goes down, with its routes
            network: unavailable
            fetch: waits, unreachable
            network: available
            fetch: 0 new
            the server ends
            fetch: fails, unreachable

            """
        #expect(run.output == lines, "\(run)")
    }

    /// The netlink sockets of this process, by their inodes.
    ///
    /// Asks each socket for its family: the list in `/proc/net/netlink` may lack some while others are opened.
    private static func sockets() throws -> Set<UInt> {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return Set(
            names.compactMap { Int32($0) }.compactMap { descriptor in
                var family: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0, family == AF_NETLINK else {
                    return nil
                }
                var status = stat()
                return fstat(descriptor, &status) == 0 ? UInt(status.st_ino) : nil
            })
    }

    @Test func `a released watcher leaves no socket, and those who follow it end`() async throws {
        let before = try Self.sockets()
        var watchers = try (0..<50).map { _ in try NetlinkWatcher() }
        let opened = try Self.sockets().subtracting(before)
        #expect(opened.count >= 100)
        let states = try #require(watchers.first).states()
        watchers = []
        // Another test may have opened some of them.
        #expect(try Self.sockets().intersection(opened).count < 50)
        var seen: [NetworkState] = []
        for await state in states { seen.append(state) }
        #expect(seen.count == 1)
    }

    @Test func `a text that is not an address is refused`() {
        let error = #expect(throws: NetlinkWatcher.Failure.self) { try NetlinkWatcher(addresses: ["example.com"]) }
        #expect(error?.message == "\"example.com\" is not an IP address; write one like 192.0.2.1")
    }
}
