internal import Mapping
internal import Model
internal import RecordBatch

/// Parts of a nested object that disappeared from the remote after an update of other parts: it took the sent parts for
/// the whole object.
struct LostParts {
    /// The record, in which those parts are null.
    let record: RecordBatch
    /// Their columns.
    let columns: [String]

    /// Creates the lost parts; nil where nothing is missing, as far as the record shows.
    ///
    /// - Parameters:
    ///   - record: The remote's object after the update.
    ///   - nested: The nested objects that were set in part.
    init?(in record: RecordBatch, _ nested: OutgoingPlan.Nested) {
        guard record.count > 0 else { return nil }
        let root = record[0]
        let lost = withExtendedLifetime(record) {
            nested.others.filter { _, path in
                // A record without the nested object says nothing about its parts.
                root[path.components[0]]?.tag == .object && Self.isMissing(path.components[...], in: root)
            }
        }
        guard !lost.isEmpty else { return nil }
        let writer = RecordBatchWriter()
        withExtendedLifetime(record) { Self.copy(root, nulls: lost.map { $0.path.components[...] }, to: writer) }
        guard let batch = try? writer.finish() else { return nil }
        self.record = batch
        columns = lost.map(\.column)
    }

    private static func isMissing(_ path: ArraySlice<String>, in value: BatchValue) -> Bool {
        guard let name = path.first else { return value.tag == .null }
        guard value.tag == .object else { return value.tag != .array }
        return value[name].map { isMissing(path.dropFirst(), in: $0) } ?? true
    }

    private static func copy(_ value: BatchValue, nulls: [ArraySlice<String>], to writer: RecordBatchWriter) {
        guard !nulls.isEmpty, value.tag == .object else {
            writer.copy(value)
            return
        }
        writer.object {
            for (name, member) in value.members {
                writer.key(name)
                copy(
                    member, nulls: nulls.filter { $0.first == name && $0.count > 1 }.map { $0.dropFirst() }, to: writer)
            }
            for name in Set(nulls.compactMap(\.first)).sorted() where value[name] == nil {
                writer.key(name)
                writer.null()
            }
        }
    }
}

extension PushSender {
    /// Describes what an update did to the parts that it did not set.
    static func words(_ lost: LostParts) -> String {
        let names = lost.columns.joined(separator: ", ")
        return "the remote's object has no \(names) any more: it took what was sent as the whole nested object "
            + "(`bmo diff` shows what was there; REST: write.update.format: full, or read_one, keeps it)"
    }
}
