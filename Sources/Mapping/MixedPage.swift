internal import RecordBatch

/// Mixed representations of one batch: flat lists of rows, their cells and their links.
///
/// A row is an object under its local entity: a cell per field (see ``EntityLayout``), `absent` where the remote said
/// nothing. Relationships to one are cells; relationships to many are links. Nothing here knows a store.
public final class MixedPage {
    /// An object, or a mere reference to one.
    public struct Row {
        /// The index of its entity in the ``CompiledModel``: of the sub-entity that it was recognised as.
        public let entity: Int
        /// The index of its first cell.
        public let firstCell: Int
        /// The top-level record that it came with.
        public let record: Int
        /// Only its key (and perhaps the relationship to its parent) is known.
        public let isReference: Bool
    }

    /// The objects that a to-many relationship of a row has.
    public struct Link {
        /// The row that has the relationship.
        public let row: Int
        /// The relationship, by its index in ``EntityLayout/toMany``.
        public let relationship: Int
        /// The index of the first target's first key cell in ``linkCells``.
        public let firstCell: Int
        /// How many targets there are.
        public let count: Int
    }

    /// A record that could not be mapped.
    public struct Rejection {
        /// Its number in the batch, from 0.
        public let record: Int
        /// What is wrong with it.
        public let reason: String
        /// The remote representation, as JSON.
        public let representation: String
    }

    /// The objects, each before the objects that are nested in it.
    public internal(set) var rows: [Row] = []
    /// The cells of all rows.
    public internal(set) var cells: [Cell] = []
    /// The to-many relationships that the remote mentioned.
    public internal(set) var links: [Link] = []
    /// The key cells of the targets of all links.
    public internal(set) var linkCells: [Cell] = []
    /// The records that go to quarantine; nothing of them is in ``rows``.
    public internal(set) var rejections: [Rejection] = []

    let arena = Arena()
    private let batch: RecordBatch

    init(batch: RecordBatch) {
        self.batch = batch
    }

    /// Where the lists end: what a rejected record is taken back to.
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

/// A field of remote records that nothing reads.
public struct UnknownField: Hashable, Sendable {
    /// The index of the entity whose records have it.
    public let entity: Int
    /// The dot path to it.
    public let path: String
}
