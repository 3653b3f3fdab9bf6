import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Replies of a few hundred kilobytes that unpack to sixty megabytes of what takes most memory.
    @Suite(.serialized) struct MemoryBoundTests {
        private static let shared = Result { try RemoteServer.fixture("hostile.py") }

        /// Whether the programs are those that users run.
        static let isOptimised = Products.folder.hasSuffix("release")
        /// The processor seconds that no reply may take.
        ///
        /// A cost that grows with the square of its size takes minutes; on a machine whose cores were shared, the longest
        /// took 19 seconds. Code that is not optimised takes several times as long.
        static var maxSeconds: Double { isOptimised ? 40 : 60 }

        /// What a sync said, its peak memory in MiB, and its processor seconds.
        private func sync(
            _ shape: String, lines: Bool = false, mib: Int = 60, options: String = ""
        ) async throws -> (run: ProcessRun, memory: Int, seconds: Double) {
            let server = try Self.shared.get()
            let folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"\(options)}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, n: {type: json}}
                    rest: {path: "/bomb/\(shape)?mib=\(mib)\(lines ? "&lines=1" : "")", records: $.items, paging: none}
                """, to: "bmo.yml")
            return try await measure(folder)
        }

        private func measure(
            _ folder: TemporaryFolder
        ) async throws -> (run: ProcessRun, memory: Int, seconds: Double) {
            let script = PackageFolder.path + "/Fixtures/rest/measure.py"
            let run = try await ProcessRun.run(
                "python3", [script, BuiltCommand.path(), "sync"], directory: folder.path, within: .seconds(280))
            let words = run.errorOutput.split(separator: "\n").last?.split(separator: " ") ?? []
            let numbers = words.dropFirst().compactMap { Double($0) }
            try #require(words.first == "measured" && numbers.count == 2, "\(run)")
            return (run, Int(numbers[0]) >> 10, numbers[1])
        }

        @Test(arguments: ["numbers", "nested", "deep", "names", "objects", "members", "spaces", "text", "root", "rows"])
        func `a reply's shape does not fill the memory`(shape: String) async throws {
            let (run, memory, seconds) = try await sync(shape)
            #expect(memory < 400, "\(shape): \(memory) MiB; \(run)")
            #expect(seconds < Self.maxSeconds, "\(shape): \(seconds) s")
            #expect(run.signal == 0 && [0, 1].contains(run.exitCode), "\(run)")
        }

        @Test(arguments: ["numbers", "names", "members"])
        func `nor does a line's`(shape: String) async throws {
            let (run, memory, seconds) = try await sync(shape, lines: true)
            #expect(memory < 400, "\(shape): \(memory) MiB; \(run)")
            #expect(seconds < Self.maxSeconds, "\(shape): \(seconds) s")
            #expect(run.signal == 0 && [0, 1].contains(run.exitCode), "\(run)")
        }

        @Test(arguments: [
            "rows", "bad", "children", "values", "names", "attributes", "namespaces", "deep", "text", "references",
            "spaces",
            "comments", "header", "before",
        ])
        func `nor an envelope's`(shape: String) async throws {
            let server = try Self.shared.get()
            let folder = try TemporaryFolder()
            let url = "\(server.url)/envelope/\(shape)?mib=\(Self.isOptimised ? 60 : 10)"
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: soap, options: {wsdl: "\(url)", wsdl_cache: ""}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer, n: {type: json}}
                    soap: {operation: List, records: ListResponse/item}
                """, to: "bmo.yml")
            let (run, memory, seconds) = try await measure(folder)
            #expect(memory < 400, "\(shape): \(memory) MiB; \(run)")
            #expect(seconds < Self.maxSeconds, "\(shape): \(seconds) s")
            #expect(run.signal == 0 && [0, 1].contains(run.exitCode), "\(run)")
        }

        @Test func `a reply that unpacks to hundreds of times its size is given up, and says which option allows it`()
            async throws
        {
            let server = try Self.shared.get()
            let folder = try TemporaryFolder()
            let config = """
                version: 1
                bridges: {api: {plugin: soap, options: {wsdl: "\(server.url)/envelope/padded?mib=200", wsdl_cache: ""LIMIT}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    soap: {operation: List, records: ListResponse/item}
                """
            try folder.write(config.replacing("LIMIT", with: ""), to: "bmo.yml")
            let (run, memory, _) = try await measure(folder)
            #expect(run.exitCode == 1 && memory < 400, "\(run)")
            #expect(run.allOutput.contains("unpacks to more than 100 times its size"), "\(run)")
            #expect(run.allOutput.contains("set max_body_bytes"), "\(run)")
            try folder.write(config.replacing("LIMIT", with: ", max_body_bytes: 300000000"), to: "bmo.yml")
            let allowed = try await measure(folder).run
            #expect(!allowed.allOutput.contains("unpacks to"), "\(allowed)")
        }

        /// It was asked for again and again: what has no room for more names was no end, and no batch that could be handed out.
        @Test func `a line with more names than a batch takes is rejected, and the scan comes to its end`() async throws
        {
            let (run, _, seconds) = try await sync("names", lines: true, mib: 6)
            #expect(seconds < Self.maxSeconds, "\(seconds) s")
            #expect(run.allOutput.contains("1 quarantined") || run.exitCode == 1, "\(run)")
        }

        @Test func `the limit and what raises it are named`() async throws {
            let (run, _, _) = try await sync("numbers")
            #expect(run.allOutput.contains("more than 25165824 values, names and marks"), "\(run)")
            #expect(run.allOutput.contains("raise max_body_bytes"))
            let (body, _, _) = try await sync("text", options: ", max_body_bytes: 1000000")
            #expect(body.allOutput.contains("larger than 1000000 bytes"), "\(body)")
        }
    }
}
