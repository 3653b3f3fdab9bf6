import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Packed files of a share that unpack to what takes most memory or time.
    @Suite(.serialized) struct FileBombTests {
        static let shapes = [
            "csv": ["rows", "distinct", "bad", "blank", "commas", "field", "quotes", "header"],
            "ndjson": ["rows", "bad", "lines", "broken", "numbers", "names", "deep"],
            "json": ["rows", "bad", "numbers", "deep", "inner", "spaces"],
            "xml": [
                "rows", "bad", "children", "names", "attributes", "deep", "text", "references", "spaces", "comments",
                "outer",
            ],
        ].flatMap { kind, names in names.map { "\(kind)-\($0)" } }.sorted()

        /// What files unpack to, in MiB: code that is not optimised takes twenty times as long.
        static var size: Int { MemoryBoundTests.isOptimised ? 24 : 6 }
        /// The peak that no sync of such a file may have, in MiB.
        static let mostMemory = 250

        /// What a sync of one file said, its peak memory in MiB, and its processor seconds.
        private func sync(
            _ shape: String, _ packing: String, mib: Int = size, options: String = ""
        ) async throws -> (run: ProcessRun, memory: Int, seconds: Double, reasons: String) {
            let place = try await RemoteWorkspace.share()
            let made = try await ProcessRun.run(
                "python3",
                [PackageFolder.path + "/Fixtures/rest/bombs.py", place.server.share, "\(mib)", packing, shape],
                within: .seconds(120))
            try #require(made.exitCode == 0, "\(made)")
            let kind = shape.prefix { $0 != "-" }
            try place.configure(
                """
                  Item: {bridge: files, key: id, attributes: {id: integer, n: {type: json}}, smb: {\(kind): "\(shape).\(packing)"}}
                """, options: options)
            let run = try await ProcessRun.run(
                "python3", [PackageFolder.path + "/Fixtures/rest/measure.py", BuiltCommand.path(), "sync"],
                environment: ["SHARE_PASSWORD": SambaServer.password], directory: place.folder.path,
                within: .seconds(280))
            let words = run.errorOutput.split(separator: "\n").last?.split(separator: " ") ?? []
            let numbers = words.dropFirst().compactMap { Double($0) }
            try #require(words.first == "measured" && numbers.count == 2, "\(run)")
            let reasons = try await place.query("SELECT reason FROM bmo_quarantine LIMIT 3")
            return (run, Int(numbers[0]) >> 10, numbers[1], reasons)
        }

        @Test(arguments: shapes)
        func `no shape of a packed file's rows takes more than memory and time allow`(shape: String) async throws {
            let (run, memory, seconds, _) = try await sync(shape, "gz")
            #expect(memory < Self.mostMemory, "\(shape): \(memory) MiB; \(run)")
            // These are seven million rows, which all go into the database: data, and no attack.
            if shape != "csv-distinct" {
                #expect(seconds < MemoryBoundTests.maxSeconds, "\(shape): \(seconds) s")
            }
            #expect(run.signal == 0 && [0, 1].contains(run.exitCode), "\(run)")
        }

        @Test(arguments: ["csv-bad", "json-inner", "ndjson-numbers", "xml-names"], ["zip", "plain"])
        func `nor does it in an archive or as it is`(shape: String, packing: String) async throws {
            let (run, memory, seconds, _) = try await sync(shape, packing)
            #expect(memory < Self.mostMemory, "\(shape): \(memory) MiB; \(run)")
            #expect(seconds < MemoryBoundTests.maxSeconds, "\(shape): \(seconds) s")
            #expect(run.signal == 0 && [0, 1].contains(run.exitCode), "\(run)")
        }

        @Test(arguments: ["gz", "zip"])
        func `a file that unpacks to a thousand times its size is given up, and says which option allows it`(
            packing: String
        ) async throws {
            let (run, _, _, reasons) = try await sync("csv-blank", packing, mib: 270)
            #expect(run.exitCode == 1, "\(run)")
            #expect(
                reasons.hasPrefix("csv-blank.\(packing)")
                    && reasons.hasSuffix(" unpacks to more than 256 MiB; unpack it, or raise max_body_bytes"),
                "\(reasons)")
            let (allowed, _, _, _) = try await sync(
                "csv-blank", packing, mib: 270, options: ", max_body_bytes: 400000000")
            #expect(allowed.exitCode == 0, "\(allowed)")
        }

        @Test(arguments: ["csv-field", "ndjson-numbers", "json-numbers", "xml-text"])
        func `a row is as large as max_record_bytes says`(shape: String) async throws {
            let (_, _, _, reasons) = try await sync(shape, "gz", mib: 1, options: ", max_record_bytes: 65536")
            #expect(reasons.contains("has more than 65536 bytes in "), "\(reasons)")
            #expect(reasons.contains("raise max_record_bytes"), "\(reasons)")
            let (run, _, _, none) = try await sync(shape, "gz", mib: 1, options: ", max_record_bytes: 8388608")
            #expect(run.exitCode == 0 && none == "(no rows)", "\(run) \(none)")
        }
    }
}
