import BridgeKit

/// Reads the lines of a file: replace it with code that talks to your API.
final class AcmeBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "acme", version: "0.1.0", summary: "Reads ID<TAB>NAME lines of a file.",
        optionsSchema: #"""
            {
                "type": "object", "additionalProperties": false, "required": ["path"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "description": "The file"}
                }
            }
            """#,
        entitySchema: #"""
            {
                "type": "object", "additionalProperties": false,
                "properties": {
                    "page_size": {"type": "integer", "minimum": 1, "default": 100, "description": "Lines a page"}
                }
            }
            """#,
        isConcurrent: true, capabilities: [.check, .discover, .fetch, .resume])

    private let path: String

    // The host has checked the options against the schema. Don't connect yet.
    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let path = options.string("path") else {
            throw BridgeError(.configuration, "the option `path` is missing")
        }
        self.path = path
    }

    func check() throws -> String? { "\(try LineSource.read(path).count) lines" }

    func discover(into writer: RecordBatchWriter) throws {
        EntityDescription("Item", fields: [.init("id", "integer", isKey: true), .init("name", "text")])
            .write(to: writer)
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        try LineSource(path, from: request.cursor, pageSize: request.section.integer("page_size") ?? 100)
    }
}

private let export = BridgeExport(AcmeBridge.self)

/// The first of the two symbols that the host looks for.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// The second one.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
