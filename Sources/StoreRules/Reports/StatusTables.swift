package import Mapping
package import StoreContract

/// The counts and positions that make up the status of an entity.
package protocol StatusTables {
    /// Returns the number of an entity's rows, including those of its sub-entities, without stubs.
    func rowCount(of layout: EntityLayout) throws -> Int

    /// Returns the number of stubs in an entity's own table.
    func stubCount(of layout: EntityLayout) throws -> Int

    /// Returns the number of an entity's quarantined records seen at a time or later.
    func quarantinedCount(of entity: String, since instant: String) throws -> Int

    /// Returns the newest run that changed an entity's rows, and when it began.
    func lastRun(changing entity: String) throws -> (id: Int64, started: String?)?

    /// Returns the position of an entity's interrupted scan that was saved last.
    func interruptedScan(of entity: String) throws -> EntityStatus.Scan?

    /// Returns the cursors of an entity: one value for itself and one for each further source, by source.
    func cursors(of entity: String) throws -> [SourceCursors]
}

extension StatusTables {
    /// Returns the status of an entity.
    package func status(of layout: EntityLayout) throws -> EntityStatus {
        let run = try lastRun(changing: layout.name)
        return EntityStatus(
            name: layout.name, rows: try rowCount(of: layout), stubs: try stubCount(of: layout),
            quarantined: try quarantinedCount(of: layout.name, since: ""), lastRun: run?.id, lastChanged: run?.started,
            interrupted: try interruptedScan(of: layout.name), cursors: try cursors(of: layout.name).map(\.line))
    }
}

/// The saved cursors of an entity, or of one of its further sources.
package struct SourceCursors {
    /// The source; empty for the entity's own bridge.
    package var source: String
    /// The number of cursors: one for each parent.
    package var count: Int
    /// The newest value of the incremental field.
    package var newest: StoredValue?
    /// Whether a cursor has a token of the remote.
    package var hasToken: Bool
    /// When the newest cursor was saved, as ISO 8601.
    package var saved: String
    /// When the newest full scan began, as ISO 8601.
    package var full: String

    /// Creates a value.
    package init(source: String, count: Int, newest: StoredValue?, hasToken: Bool, saved: String, full: String) {
        (self.source, self.count, self.newest) = (source, count, newest)
        (self.hasToken, self.saved, self.full) = (hasToken, saved, full)
    }

    /// Summarizes single cursors, one for each parent of a source.
    package static func summarize(_ cursors: [SourceCursors]) -> [SourceCursors] {
        Dictionary(grouping: cursors, by: \.source).sorted { $0.key < $1.key }.compactMap { _, cursors in
            cursors.dropFirst().reduce(cursors.first) { sum, cursor in
                guard var sum else { return cursor }
                sum.count += cursor.count
                if let newest = cursor.newest, Watermark.isNewer(newest, than: sum.newest) { sum.newest = newest }
                sum.hasToken = sum.hasToken || cursor.hasToken
                (sum.saved, sum.full) = (max(sum.saved, cursor.saved), max(sum.full, cursor.full))
                return sum
            }
        }
    }

    /// What the next scan will request, in words.
    ///
    /// Tokens and the original requests are left out, as they are private to the bridge.
    fileprivate var line: String {
        let from = newest.map { "what is newer than \($0)" } ?? (hasToken ? "what changed since \(saved)" : "all")
        let parts = [
            "the next scan" + (source.isEmpty ? "" : " of \(source)") + " asks for \(from)",
            count > 1 ? "by \(count) parents" : nil, "it was last fetched in full at \(full)",
        ]
        return parts.compactMap { $0 }.joined(separator: "; ")
    }
}
