internal import RecordBatch

/// Turns the records of a preset into plain ones.
///
/// JSON:API: `attributes` and `relationships` become members of the record, and related resources that the reply includes
/// stand in their place. HAL: what is embedded becomes a member. OData: what is marked as removed goes to the tombstones.
struct RecordShaper {
    let preset: Preset
    /// Included resources of the page, by type and id.
    private let included: [String: BatchValue]
    // Keeps the bytes that `included` points into.
    private let batch: RecordBatch?

    /// How deep included resources stand in one another.
    private static let deepest = 3

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
    func write(_ record: BatchValue, to writer: RecordBatchWriter) -> Bool {
        switch preset {
        case .jsonAPI: writeResource(record, to: writer, depth: 0)
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
    private func writeResource(_ record: BatchValue, to writer: RecordBatchWriter, depth: Int) {
        guard record.tag == .object else {
            writer.copy(record)
            return
        }
        writer.object {
            for (name, value) in record.members {
                switch name {
                case "attributes" where value.tag == .object:
                    for (name, value) in value.members { write(name, value, to: writer) }
                case "relationships" where value.tag == .object:
                    for (name, relationship) in value.members {
                        // Only links: the reply says nothing about what is related.
                        guard let data = relationship["data"] else { continue }
                        writer.key(name)
                        writeRelated(data, to: writer, depth: depth)
                    }
                default: write(name, value, to: writer)
                }
            }
        }
    }

    private func writeRelated(_ data: BatchValue, to writer: RecordBatchWriter, depth: Int) {
        switch data.tag {
        case .array:
            writer.array { for element in data.elements { writeRelated(element, to: writer, depth: depth) } }
        case .object:
            if depth < Self.deepest, let resource = included[Self.identity(data)] {
                writeResource(resource, to: writer, depth: depth + 1)
            } else {
                writer.copy(data)
            }
        default: writer.copy(data)
        }
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
