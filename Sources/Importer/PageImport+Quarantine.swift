internal import Mapping
internal import RecordBatch
internal import StoreContract

/// The release of quarantined records that the page makes out of date.
///
/// Otherwise a retry would overwrite newer values with them, or bring deleted objects back.
extension PageImport {
    /// The beginning of the reason of a record that reports a deletion.
    package static let deletion = "a deleted object: "
    /// The remedy for one that is its key alone.
    static let bareKey =
        #"; to read a key that stands alone, let the attribute have from: [NAME, "@value"], transform: first"#

    /// Releases the quarantined records of objects whose last record in a batch is not in quarantine.
    ///
    /// - Parameters:
    ///   - mapped: The batch.
    ///   - refused: The records that the store rejected.
    ///   - deleted: The objects that the batch has deleted.
    func releaseOutdated(_ mapped: MappedBatch, refused: Set<Int>, deleted: [ObjectKey]) throws {
        // A record of changes does not have the values of a quarantined one.
        let replaces = origin.replacesQuarantined && mapped.extent != .changes
        guard !model.entities[entity].key.isEmpty, try replaces && mayHaveOutdated() || !deleted.isEmpty else { return }
        let page = mapped.page
        var last: [[StoredValue]: (record: Int, isKept: Bool)] = [:]
        func note(_ key: [StoredValue], _ record: Int, isKept: Bool) {
            if let known = last[key], known.record > record { return }
            last[key] = (record, isKept)
        }
        var record = -1
        for row in page.rows where row.record != record {
            record = row.record
            note(key(of: row, page), record, isKept: refused.contains(record))
        }
        for (rejection, key) in zip(page.rejections, mapped.rejectedKeys) {
            if let key { note(key, rejection.record, isKept: true) }
        }
        let outdated = replaces ? last.filter { !$0.value.isKept }.map(\.key) : []
        try transaction.releaseQuarantine(of: outdated.map(Self.text), in: [entity], from: origin.source)
        let gone = deleted.map(\.values).filter { last[$0]?.isKept == false }
        try releaseDeleted(gone)
    }

    /// Releases the quarantined records of deleted objects, whichever source they come from.
    func releaseDeleted(_ keys: [[StoredValue]]) throws {
        guard !keys.isEmpty else { return }
        try transaction.releaseQuarantine(of: keys.map(Self.text), in: model.family(of: entity), from: nil)
    }

    /// Returns a key as it is stored with a quarantined record; nil if it is too long or contains a secret.
    func quarantineKey(_ key: [StoredValue]) -> String? {
        guard !key.isEmpty else { return nil }
        let text = Self.text(key)
        return text.utf8.count <= Self.maxRepresentationSize && origin.redaction.data(text) == text ? text : nil
    }

    private static func text(_ key: [StoredValue]) -> String { JSONText.key(key).string }

    /// Returns whether records of the entity may be in quarantine; asks the store once.
    func mayHaveOutdated() throws -> Bool {
        if let known = mayHaveQuarantined { return known }
        let answer = try transaction.mayHaveQuarantined(entity)
        mayHaveQuarantined = answer
        return answer
    }
}
