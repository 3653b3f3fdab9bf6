internal import BridgeKit
internal import RecordBatch

/// Flattens the records of a page, according to the preset.
///
/// JSON:API: `attributes` and `relationships` become members of the record, and included resources replace their
/// identifiers. HAL: embedded resources become members. OData: records marked as removed become tombstones.
final class RecordShaper {
    let preset: Preset
    /// The page's included resources, by type and id.
    private let included: [String: BatchValue]
    // Owns the bytes that `included` refers to.
    private let batch: RecordBatch?

    /// The resources being written; none of them is written inside itself.
    private var open: [String] = []
    /// The relationships from the record to the current place.
    private var path: [String] = []
    /// The resources already written whole, with the path of each.
    private var placed: Set<[String]> = []
    /// The bytes that related resources took in the page's records before this relationship, and the offset where it
    /// begins.
    private var spent = 0
    private var start = 0
    /// Whether a resource was repeated as type and id only, to save space.
    private(set) var isShortened = false

    /// The maximum nesting depth of included resources.
    private static let maxDepth = 3
    /// The size of a page's related resources up to which each of them is written at every place that refers to it.
    ///
    /// A hundred people in twenty groups that name their members make a small page, but half a gigabyte when expanded.
    static let generousBytes = 32 << 20
    /// The maximum size of a page's related resources.
    private static let maxBytes = 56 << 20

    init(_ preset: Preset, included batch: RecordBatch?) {
        self.preset = preset
        self.batch = batch
        var included: [String: BatchValue] = [:]
        if let batch {
            for index in 0..<batch.count { included[Self.identity(batch[index])] = batch[index] }
        }
        self.included = included
    }

    /// Whether the record marks a deleted object.
    func isTombstone(_ record: BatchValue) -> Bool { preset == .odata && EntityID.isTombstone(record) }

    /// Writes the record.
    ///
    /// - Throws: ``BridgeError`` if the included resources exceed the limit. Nothing of the record is written then.
    func write(_ record: BatchValue, to writer: RecordBatchWriter) throws {
        switch preset {
        case .jsonAPI:
            do {
                try writeResource(record, to: writer)
            } catch {
                writer.abandonRecord()
                throw error
            }
        case .hal: writeHAL(record, to: writer)
        default: writer.copy(record)
        }
    }

    private static func identity(_ value: BatchValue) -> String {
        "\(value["type"]?.text ?? "") \(value["id"]?.text ?? value["id"]?.json ?? "")"
    }

    /// Writes a resource (JSON:API 1.1, section 7.2).
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
                        // A relationship with links only does not contain the related resources.
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

    /// Returns the included resource to write in place of an identifier, or nil to keep the identifier.
    ///
    /// Regardless of space, each resource is written whole once per page and path, for entities of the config nested at
    /// that path. Members that a record leaves out stay unchanged in the database.
    private func expansion(of data: BatchValue, bytes: Int) throws -> BatchValue? {
        let identity = Self.identity(data)
        guard path.count <= Self.maxDepth, let resource = included[identity], !open.contains(identity) else {
            return nil
        }
        guard bytes <= Self.maxBytes else {
            throw BridgeError(
                .limit,
                "the resources that the reply includes take more than \(Self.maxBytes >> 20) MiB where they are related",
                remedy: "include fewer of them, or request smaller pages")
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
