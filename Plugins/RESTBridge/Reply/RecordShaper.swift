internal import BridgeKit
internal import RecordBatch

/// Turns the records of a page into plain ones, as its preset says.
///
/// JSON:API: `attributes` and `relationships` become members of the record, and related resources that the reply includes
/// stand in their place. HAL: what is embedded becomes a member. OData: what is marked as removed goes to the tombstones.
final class RecordShaper {
    let preset: Preset
    /// Included resources of the page, by type and id.
    private let included: [String: BatchValue]
    // Keeps the bytes that `included` points into.
    private let batch: RecordBatch?

    /// The resources that are being written: none of them stands in itself.
    private var open: [String] = []
    /// The relationships that lead to where the writer is.
    private var path: [String] = []
    /// Which resource has been written whole at the end of which path.
    private var placed: Set<[String]> = []
    /// Bytes that related resources took in the page's records before this relationship, and where it begins.
    private var spent = 0
    private var start = 0
    /// Whether a resource that is there already was written as type and id, to save room.
    private(set) var isShortened = false

    /// How deep included resources stand in one another.
    private static let deepest = 3
    /// How many bytes of a page's batches related resources may take for each of them to stand wherever it is related.
    ///
    /// A hundred people in twenty groups that name their members are a small page, and half a gigabyte written out.
    static let generousBytes = 32 << 20
    /// How many bytes they may take at all.
    private static let mostBytes = 256 << 20

    /// Whether a preset's records need shaping at all.
    static func isNeeded(_ preset: Preset?) -> Bool { [.jsonAPI, .hal, .odata].contains(preset) }

    init(_ preset: Preset, included batch: RecordBatch?) {
        self.preset = preset
        self.batch = batch
        var included: [String: BatchValue] = [:]
        if let batch {
            for index in 0..<batch.count { included[Self.identity(batch[index])] = batch[index] }
        }
        self.included = included
    }

    /// Writes the record; false for a tombstone, of which nothing is written.
    ///
    /// - Throws: ``BridgeError`` where what it includes has no bounds; nothing of the record is written then.
    func write(_ record: BatchValue, to writer: RecordBatchWriter) throws -> Bool {
        switch preset {
        case .jsonAPI:
            do {
                try writeResource(record, to: writer)
            } catch {
                writer.abandonRecord()
                throw error
            }
        case .hal: writeHAL(record, to: writer)
        case .odata where record["@removed"] != nil || record["@odata.removed"] != nil: return false
        default: writer.copy(record)
        }
        return true
    }

    private static func identity(_ value: BatchValue) -> String {
        "\(value["type"]?.text ?? "") \(value["id"]?.text ?? value["id"]?.json ?? "")"
    }

    /// JSON:API 1.1, section 7.2.
    private func writeResource(_ record: BatchValue, to writer: RecordBatchWriter) throws {
        guard record.tag == .object else {
            writer.copy(record)
            return
        }
        open.append(Self.identity(record))
        defer { open.removeLast() }
        try writer.object {
            for (name, value) in record.members {
                switch name {
                case "attributes" where value.tag == .object:
                    for (name, value) in value.members { write(name, value, to: writer) }
                case "relationships" where value.tag == .object:
                    for (name, relationship) in value.members {
                        // Only links: the reply says nothing about what is related.
                        guard let data = relationship["data"] else { continue }
                        writer.key(name)
                        try writeRelated(data, by: name, to: writer)
                    }
                default: write(name, value, to: writer)
                }
            }
        }
    }

    private func writeRelated(_ data: BatchValue, by name: String, to writer: RecordBatchWriter) throws {
        if path.isEmpty { start = writer.byteCount }
        path.append(name)
        defer {
            path.removeLast()
            if path.isEmpty { spent += writer.byteCount - start }
        }
        try writeRelated(data, to: writer)
    }

    private func writeRelated(_ data: BatchValue, to writer: RecordBatchWriter) throws {
        switch data.tag {
        case .array: try writer.array { for element in data.elements { try writeRelated(element, to: writer) } }
        case .object:
            if let resource = try expansion(of: data, bytes: spent + writer.byteCount - start) {
                try writeResource(resource, to: writer)
            } else {
                writer.copy(data)
            }
        default: writer.copy(data)
        }
    }

    /// The included resource to write in place of its type and id; nil where those are to stand.
    ///
    /// Whatever room there is, each resource is written whole once per page at the end of each path: an entity of the config
    /// that is nested there gets it, and what a record leaves out stays as it is in the database.
    private func expansion(of data: BatchValue, bytes: Int) throws -> BatchValue? {
        let identity = Self.identity(data)
        guard path.count <= Self.deepest, let resource = included[identity], !open.contains(identity) else {
            return nil
        }
        guard bytes <= Self.mostBytes else {
            throw BridgeError(
                .limit,
                "the resources that the reply includes make more than \(Self.mostBytes >> 20) MiB where they are related",
                remedy: "include fewer of them, or ask for smaller pages")
        }
        let isNew = placed.insert(path + [identity]).inserted
        if isNew || bytes <= Self.generousBytes { return resource }
        isShortened = true
        return nil
    }

    private func writeHAL(_ record: BatchValue, to writer: RecordBatchWriter) {
        guard record.tag == .object else {
            writer.copy(record)
            return
        }
        writer.object {
            for (name, value) in record.members {
                guard name == "_embedded", value.tag == .object else {
                    write(name, value, to: writer)
                    continue
                }
                for (name, value) in value.members {
                    writer.key(name)
                    if value.tag == .array {
                        writer.array { for element in value.elements { writeHAL(element, to: writer) } }
                    } else {
                        writeHAL(value, to: writer)
                    }
                }
            }
        }
    }

    private func write(_ name: String, _ value: BatchValue, to writer: RecordBatchWriter) {
        writer.key(name)
        writer.copy(value)
    }
}
