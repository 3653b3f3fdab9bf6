extension Scaffold {
    var swiftFiles: [(path: String, text: String)] {
        [
            ("Package.swift", manifest), ("Sources/\(typeName)Bridge/\(typeName)Bridge.swift", bridge),
            ("Sources/\(typeName)Bridge/LineSource.swift", source),
        ]
    }

    private var manifest: String {
        let dependency =
            kitIsRemote ? ".package(url: \"\(kit)\", branch: \"main\")" : ".package(name: \"bmo\", path: \"\(kit)\")"
        return """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "\(typeName)Bridge",
                platforms: [.macOS(.v15)],
                products: [.library(name: "\(typeName)Bridge", type: .dynamic, targets: ["\(typeName)Bridge"])],
                dependencies: [\(dependency)],
                targets: [
                    .target(name: "\(typeName)Bridge", dependencies: [.product(name: "BridgeKit", package: "bmo")])
                ]
            )

            """
    }

    private var bridge: String {
        """
        import BridgeKit

        /// Reads the lines of a file: replace it by what talks to your API.
        final class \(typeName)Bridge: Bridge {
            static let descriptor = BridgeDescriptor(
                name: "\(name)", version: "0.1.0", summary: "Reads ID<TAB>NAME lines of a file.",
                optionsSchema: #\"\"\"
                    {
                        "type": "object", "additionalProperties": false, "required": ["path"],
                        "properties": {
                            "path": {"type": "string", "minLength": 1, "description": "The file"}
                        }
                    }
                    \"\"\"#,
                entitySchema: #\"\"\"
                    {
                        "type": "object", "additionalProperties": false,
                        "properties": {
                            "page_size": {"type": "integer", "minimum": 1, "default": 100, "description": "Lines a page"}
                        }
                    }
                    \"\"\"#,
                isConcurrent: true, capabilities: [.check, .discover, .fetch, .resume])

            private let path: String

            /// The host has checked the options against the schema. Don't connect yet.
            init(options: BridgeOptions, context: BridgeContext) throws {
                guard let path = options.string("path") else {
                    throw BridgeError(.configuration, "the option `path` is missing")
                }
                self.path = path
            }

            func check() throws -> String? { "\\(try LineSource.read(path).count) lines" }

            func discover(into writer: RecordBatchWriter) throws {
                writer.object {
                    writer.member("name", "Item")
                    writer.key("fields")
                    writer.array {
                        for (name, type, isKey) in [("id", "integer", true), ("name", "text", false)] {
                            writer.object {
                                writer.member("name", name)
                                writer.member("type", type)
                                writer.member("key", isKey)
                            }
                        }
                    }
                    writer.member("section", object: {})
                }
            }

            func fetch(_ request: FetchRequest) throws -> any RecordSource {
                try LineSource(path, from: request.cursor, pageSize: request.section.integer("page_size") ?? 100)
            }
        }

        // The two symbols that the host looks for.
        private let export = BridgeExport(\(typeName)Bridge.self)

        @c(bmo_bridge_info_v1)
        public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

        @c(bmo_bridge_entry_v1)
        public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
            export.table(major: major, minor: minor)
        }

        """
    }

    private var source: String {
        """
        import BridgeKit
        import Glibc
        import Synchronization

        /// A walk over the lines, a page at a time; the resume point is the number of lines that are done.
        final class LineSource: RecordSource {
            private let path: String
            private let lines: [Substring]
            private let pageSize: Int
            private var done: Int
            private let isCancelled = Atomic(false)

            init(_ path: String, from cursor: String?, pageSize: Int) throws {
                self.path = path
                self.pageSize = pageSize
                lines = try Self.read(path)
                done = 0
                if let cursor {
                    guard let number = Int(cursor), (0...lines.count).contains(number) else {
                        throw BridgeError(.configuration, "`\\(cursor)` is no resume point of \\(path)")
                    }
                    done = number
                }
            }

            func next(into writer: RecordBatchWriter) throws -> Page {
                if isCancelled.load(ordering: .relaxed) { throw BridgeError(.cancelled, "cancelled") }
                var rejected: [Page.Rejected] = []
                let end = min(done + pageSize, lines.count)
                for (index, line) in lines[done..<end].enumerated() {
                    let parts = line.split(separator: "\\t", maxSplits: 1)
                    guard parts.count == 2, let id = Int(parts[0]) else {
                        // What cannot be represented is never dropped in silence.
                        rejected.append(.init(index: index, reason: "not ID<TAB>NAME", representation: String(line)))
                        continue
                    }
                    writer.object {
                        writer.member("id", id)
                        writer.member("name", String(parts[1]))
                    }
                }
                done = end
                let isEnd = done == lines.count
                return Page(
                    cursor: isEnd ? nil : String(done), isPageEnd: true, isEnd: isEnd, isComplete: isEnd,
                    total: Int64(lines.count), location: path, rejected: rejected)
            }

            func cancel() { isCancelled.store(true, ordering: .relaxed) }

            static func read(_ path: String) throws -> [Substring] {
                guard let file = fopen(path, "r") else {
                    throw BridgeError(
                        errno == ENOENT ? .notFound : .permission, "\\(path) cannot be read: \\(String(cString: strerror(errno)))",
                        remedy: "check the option `path`")
                }
                defer { fclose(file) }
                var bytes: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 65536)
                while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
                return String(decoding: bytes, as: UTF8.self).split(separator: "\\n")
            }
        }

        """
    }
}
