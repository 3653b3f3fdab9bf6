internal import RecordBatch

/// The mixed representations of one batch, as flat lists of rows, cells and links.
///
/// A row is an object of a local entity, with one cell per field (see ``EntityLayout``); a cell is `absent` if the
/// record does not mention it. To-one relationships are cells; to-many relationships are links. The representation is
/// independent of any store.
public final class MixedPage {
    /// An object, or a reference to one.
    public struct Row {
        /// The index of the row's entity in the ``CompiledModel``: the most specific recognized entity.
        public let entity: Int
        /// The index of its first cell.
        public let firstCell: Int
        /// The index of the top-level record that contains the object.
        public let record: Int
        /// Whether only the key, and possibly the relationship to the parent, is known.
        public let isReference: Bool
    }

    /// The targets of a row's to-many relationship.
    public struct Link {
        /// The index of the row that owns the relationship.
        public let row: Int
        /// The index of the relationship in ``EntityLayout/toMany``.
        public let relationship: Int
        /// The index of the first target's first key cell in ``linkCells``.
        public let firstCell: Int
        /// The number of targets.
        public let count: Int
    }

    /// What a record says about the list of a row's to-many relationship.
    package struct ListMetadata {
        /// The index of the row that owns the relationship.
        package let row: Int
        /// The index of the relationship in ``EntityLayout/toMany``.
        package let relationship: Int
        /// The names of the relationships that lead from the record to the list, joined by dots.
        package let path: String
        /// The values as JSON, in the order of the configuration.
        package internal(set) var values: [(name: String, json: String)] = []
        /// The names of the values that are longer than ``maxSize``.
        package internal(set) var omitted: [String] = []

        /// The maximum size of a value as JSON, in bytes.
        package static let maxSize = 4 << 10

        init(row: Int, relationship: Int, path: String) {
            self.row = row
            self.relationship = relationship
            self.path = path
        }
    }

    /// A record that could not be mapped.
    public struct Rejection {
        /// The record's number in the batch, from 0.
        public let record: Int
        /// The reason for the rejection.
        public let reason: String
        /// The remote representation, as JSON.
        public let representation: String
    }

    /// The objects, each before its nested objects.
    public internal(set) var rows: [Row] {
        get { lists.pointee.rows }
        _modify { yield &lists.pointee.rows }
    }
    /// The cells of all rows.
    public internal(set) var cells: [Cell] {
        get { lists.pointee.cells }
        _modify { yield &lists.pointee.cells }
    }
    /// The to-many relationships that the records mention.
    public internal(set) var links: [Link] {
        get { lists.pointee.links }
        _modify { yield &lists.pointee.links }
    }
    /// The key cells of the targets of all links.
    public internal(set) var linkCells: [Cell] {
        get { lists.pointee.linkCells }
        _modify { yield &lists.pointee.linkCells }
    }
    /// What the records say about their lists, if the mapper reads it.
    package internal(set) var metadata: [ListMetadata] {
        get { lists.pointee.metadata }
        _modify { yield &lists.pointee.metadata }
    }
    /// The records that go to quarantine.
    ///
    /// None of their objects is in ``rows``.
    public internal(set) var rejections: [Rejection] = []

    private struct Lists {
        var rows: [Row] = []
        var cells: [Cell] = []
        var links: [Link] = []
        var linkCells: [Cell] = []
        var metadata: [ListMetadata] = []
    }

    /// In memory of its own, because an access to a class's variable calls the runtime's exclusivity check, and a
    /// record takes a dozen.
    private let lists = UnsafeMutablePointer<Lists>.allocate(capacity: 1)
    let arena = Arena()
    private let batch: RecordBatch

    init(batch: RecordBatch) {
        self.batch = batch
        lists.initialize(to: Lists())
    }

    deinit {
        lists.deinitialize(count: 1)
        lists.deallocate()
    }

    /// The lengths of the lists, to which the rejection of a record truncates them.
    struct Mark {
        let rows: Int
        let cells: Int
        let links: Int
        let linkCells: Int
        let metadata: Int
    }

    var mark: Mark {
        Mark(
            rows: rows.count, cells: cells.count, links: links.count, linkCells: linkCells.count,
            metadata: metadata.count)
    }

    func takeBack(to mark: Mark) {
        rows.removeSubrange(mark.rows...)
        cells.removeSubrange(mark.cells...)
        links.removeSubrange(mark.links...)
        linkCells.removeSubrange(mark.linkCells...)
        metadata.removeSubrange(mark.metadata...)
    }
}
