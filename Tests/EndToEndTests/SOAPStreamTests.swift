import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct SOAPStreamTests {
        /// A reply without an end in sight; the WSDL is that of the demo.
        private static let server = TestServers.text("soap-stream.py")

        @Test func `a reply of 33 MB is imported in the memory of a few`() async throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.server, to: "server.py")
            let server = try RunningProcess("python3", ["-u", "server.py"], directory: folder.path)
            defer {
                server.signal(SIGKILL)
                server.finishBlocking()
            }
            let port = try await eventually("the server tells its port") {
                server.output.hasSuffix("\n") ? Int(server.output.dropFirst(5).dropLast()) : nil
            }
            try folder.write(
                """
                version: 1
                bridges:
                  g:
                    plugin: soap
                    options: {wsdl: "\(PackageFolder.path)/Examples/demo/gazetteer.wsdl", endpoint: "http://127.0.0.1:\(port)/"}
                entities:
                  Subdivision:
                    bridge: g
                    key: code
                    attributes: {code: text, name: text, type: text}
                    soap:
                      operation: ListSubdivisions
                      records: subdivisions/subdivision
                      input: {offset: 0, limit: 30000}
                      paging: {style: none, total: total}

                """, to: "bmo.yml")
            let sync = try RunningProcess(Command.path(), ["sync"], directory: folder.path)
            // The kernel's own high-water mark, as long as the process is there.
            var peak = 0
            while let status = try? String(contentsOfFile: "/proc/\(sync.pid)/status", encoding: .utf8),
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
            {
                peak = max(peak, Int(line.filter(\.isNumber)) ?? 0)
                try await Task.sleep(for: .milliseconds(5))
            }
            let run = try await sync.finish(within: .seconds(120))
            #expect(run.exitCode == 0, "\(run)")
            let count = try await ProcessRun.run(
                "sqlite3",
                ["-readonly", folder.appending("bmo.sqlite"), "SELECT count(*), sum(length(name)) FROM Subdivision"])
            #expect(count.output == "30000|\(30_000 * 60 * 14)\n", "\(count)")
            // Whole in memory, it would take 33 MB as bytes alone, and several times that as a tree.
            #expect(peak > 10_000 && peak < 90_000, "a peak of \(peak) KiB")
        }
    }
}
