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
    /// The records that go to quarantine.
    ///
    /// None of their objects is in ``rows``.
    public internal(set) var rejections: [Rejection] = []

    private struct Lists {
        var rows: [Row] = []
        var cells: [Cell] = []
        var links: [Link] = []
        var linkCells: [Cell] = []
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
    }

    var mark: Mark { Mark(rows: rows.count, cells: cells.count, links: links.count, linkCells: linkCells.count) }

    func takeBack(to mark: Mark) {
        rows.removeSubrange(mark.rows...)
        cells.removeSubrange(mark.cells...)
        links.removeSubrange(mark.links...)
        linkCells.removeSubrange(mark.linkCells...)
    }
}
