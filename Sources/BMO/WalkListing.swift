internal import BridgeHost
internal import Mapping
internal import Model
internal import RecordBatch

/// What walks have looked at: of that, what did not come again in quarantine is good now, or gone.
struct WalkListing: Sendable {
    /// Whether all that there is was listed, but for what was passed by.
    var isWhole: Bool
    /// When the first walk began, in whichever process that was, as ISO 8601.
    var began: String
    /// What was passed by.
    var spared = SparedRecords()

    mutating func merge(_ other: WalkListing) {
        isWhole = isWhole && other.isWhole
        began = min(began, other.began)
        spared.merge(other.spared)
    }
}

/// Records that walks passed by: those of them that are in quarantine may still be bad.
struct SparedRecords: Sendable {
    private struct Values {
        var whole: Set<String> = []
        var prefixes: Set<String> = []

        func contains(_ value: String) -> Bool {
            whole.contains(value) || prefixes.contains { value.hasPrefix($0) }
        }
    }

    private var fields: [String: Values] = [:]

    mutating func add(_ objects: SparedObjects) {
        if objects.isPrefix {
            fields[objects.field, default: Values()].prefixes.insert(objects.value)
        } else {
            fields[objects.field, default: Values()].whole.insert(objects.value)
        }
    }

    mutating func merge(_ other: SparedRecords) {
        fields.merge(other.fields) { left, right in
            Values(whole: left.whole.union(right.whole), prefixes: left.prefixes.union(right.prefixes))
        }
    }

    /// Whether a record in quarantine was passed by.
    ///
    /// What is no JSON object was rejected by its bridge, which rejects it again while it is bad.
    ///
    /// - Parameter isCut: Only the beginning is known.
    func contains(_ representation: String, isCut: Bool) -> Bool {
        guard !fields.isEmpty else { return false }
        guard fields[""] == nil, !isCut else { return true }
        guard let batch = try? JSONParser.batch(representation), batch.count == 1 else { return false }
        return withExtendedLifetime(batch) {
            fields.contains { field, values in
                Self.text(of: field, in: batch[0]).map(values.contains) ?? false
            }
        }
    }

    private static func text(of field: String, in record: BatchValue) -> String? {
        let value = record[field] ?? RemotePath(field).flatMap(record.value(at:))
        return value.flatMap { $0.text ?? $0.integer.map(String.init) }
    }
}
