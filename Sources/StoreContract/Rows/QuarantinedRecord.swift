/// A record that could not be imported.
public struct QuarantinedRecord: Sendable, Equatable {
    /// The name of the record's entity.
    public var entity: String
    /// The bridge's name in the configuration.
    public var bridge: String
    /// The page's number, from 1.
    public var page: Int
    /// The record's number in the page, from 1, if known.
    public var record: Int?
    /// The reason why it could not be imported.
    public var reason: String
    /// The remote representation, or its beginning.
    public var representation: String
    /// The URL or path, without secrets.
    public var location: String?
    /// The original size in bytes, if the representation was cut.
    public var cutFrom: Int?
    /// The further source that the record comes from; empty for the entity's own bridge, nil if an earlier bmo stored it.
    public var source: String?
    /// The key of the object whose scan returned the record, as a JSON array; nil in a scan without a parent.
    public var parent: String?
    /// The key of the record's object as a JSON array, if it could be read.
    public var key: String?

    /// Creates a quarantined record.
    public init(
        entity: String, bridge: String, page: Int, record: Int?, reason: String, representation: String,
        location: String?, cutFrom: Int? = nil, source: String? = "", parent: String? = nil, key: String? = nil
    ) {
        self.entity = entity
        self.bridge = bridge
        self.page = page
        self.record = record
        self.reason = reason
        self.representation = representation
        self.location = location
        self.cutFrom = cutFrom
        self.source = source
        self.parent = parent
        self.key = key
    }
}

extension QuarantinedRecord {
    /// Creates the record of a row of a table that a migration could not keep, or not with all values.
    ///
    /// - Parameter row: The row as a JSON object: local values by column.
    package init(rowOf entity: String, reason: String, row: String) {
        self.init(
            entity: entity, bridge: Self.migration, page: 0, record: nil, reason: reason, representation: row,
            location: nil)
    }

    /// Whether it is a row that a migration could not keep: it has local names and values, which cannot be mapped.
    package var isRow: Bool { bridge == Self.migration && page == 0 }

    /// Stands for the bridge; the pages of a bridge of that name begin with 1.
    private static let migration = "migrate"
}

/// A quarantined record, with its ID and times.
public struct QuarantineEntry: Sendable {
    /// The record's ID in the file.
    public var id: Int64
    /// The record.
    public var record: QuarantinedRecord
    /// When it first occurred, as ISO 8601.
    public var firstSeen: String
    /// When it last occurred, as ISO 8601.
    public var lastSeen: String

    /// Creates an entry.
    package init(id: Int64, record: QuarantinedRecord, firstSeen: String, lastSeen: String) {
        self.id = id
        self.record = record
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
    }
}
