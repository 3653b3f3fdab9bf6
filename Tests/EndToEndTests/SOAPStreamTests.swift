import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct SOAPStreamTests {
        @Test func `a reply of 33 MB is imported in the memory of a few`() async throws {
            // The WSDL is that of the demo.
            let remote = try await RemoteWorkspace("soap-stream.py")
            try remote.folder.write(
                """
                version: 1
                bridges:
                  g:
                    plugin: soap
                    options: {wsdl: "\(PackageFolder.path)/Examples/demo/gazetteer.wsdl", endpoint: "\(remote.url)/"}
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
            let sync = try remote.start(["sync"])
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
            let count = try await remote.query("SELECT count(*), sum(length(name)) FROM Subdivision")
            #expect(count == "30000|\(30_000 * 60 * 14)")
            // Whole in memory, it would take 33 MB as bytes alone, and several times that as a tree.
            #expect(peak > 10_000 && peak < 90_000, "a peak of \(peak) KiB")
        }
    }
}
