internal import BridgeHost
internal import Mapping
internal import Model
internal import RecordBatch

/// The coverage of scans: quarantined records within it that were not quarantined again are valid now, or deleted.
struct ScanListing: Sendable {
    /// Whether everything was listed, except for skipped objects.
    var isWhole: Bool
    /// When the first scan began, in any process, as ISO 8601.
    var began: String
    /// The objects that were skipped.
    var skipped = SkippedRecords()
    /// The members that the records had; nil where not all records are known.
    var members: Set<ListedMember>? = []

    mutating func merge(_ other: ScanListing) {
        if let more = other.members { members?.formUnion(more) } else { members = nil }
        isWhole = isWhole && other.isWhole
        began = min(began, other.began)
        skipped.merge(other.skipped)
    }
}

/// Records that scans skipped: quarantined ones among them may still be faulty.
struct SkippedRecords: Sendable {
    private struct Values {
        var whole: Set<ExactText> = []
        var prefixes: Set<ExactText> = []

        func contains(_ value: String) -> Bool {
            whole.contains(ExactText(value)) || prefixes.contains { value.utf8.starts(with: $0.string.utf8) }
        }
    }

    private var fields: [String: Values] = [:]

    /// Whether no record was skipped.
    var isEmpty: Bool { fields.isEmpty }

    mutating func add(_ objects: SkippedObjects) {
        if objects.isPrefix {
            fields[objects.field, default: Values()].prefixes.insert(ExactText(objects.value))
        } else {
            fields[objects.field, default: Values()].whole.insert(ExactText(objects.value))
        }
    }

    mutating func merge(_ other: SkippedRecords) {
        fields.merge(other.fields) { left, right in
            Values(whole: left.whole.union(right.whole), prefixes: left.prefixes.union(right.prefixes))
        }
    }

    /// Returns whether a quarantined record was skipped.
    ///
    /// A representation that is not a JSON object was rejected by its bridge, which rejects it again while it is
    /// faulty.
    ///
    /// - Parameter isCut: Whether the representation is truncated.
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
