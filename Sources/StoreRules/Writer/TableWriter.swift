package import Mapping
package import StoreContract

/// The writer of an open transaction: rows, links and deletions, each with its record in the history.
///
/// A store creates one per transaction over its tables. Before it commits, it calls ``settle()``; with a rollback, it
/// drops the writer and keeps the ``RunState`` from before.
package final class TableWriter {
    package let tables: any StoreTables
    package let model: CompiledModel
    /// The open run.
    package var run: RunState
    /// The source of the records being imported.
    package var source: PageSource?
    /// The roots of the entities whose rows changed.
    package var touched: Set<Int> = []
    /// Returns whether a row that the remote no longer has must be kept because of a local edit.
    package var keepsRow: ((_ root: Int, _ key: RowKey) throws -> Bool)?
    /// The objects that may have become abandoned stubs.
    var candidates: Set<RowReference> = []
    /// The scans that list everything again, by the scan that brings the object back.
    private var askedAgain: Set<[String]> = []
    /// The lists that deleted objects take along, by root.
    var listsOfDeleted: [Int: [Int]] = [:]

    package init(_ tables: any StoreTables, run: RunState) {
        self.tables = tables
        self.run = run
        model = tables.model
    }

    /// Ends the transaction's work: removes the stubs that it abandoned.
    package func settle() throws {
        try settleAbandonedStubs()
    }

    /// Has the scans that brought values of an object, which are lost, list everything again.
    ///
    /// Those that ask only for changes would never bring them for the object that has returned.
    ///
    /// - Parameter scans: The entities that are scanned.
    func askAgain(_ scans: some Sequence<String>) throws {
        for scan in Set(scans) where askedAgain.insert([scan, source?.scan ?? ""]).inserted {
            try tables.forgetCursors(of: scan, returning: source?.scan)
        }
    }

    /// Returns the editor of one relationship's lists.
    package func links(_ root: Int, _ relationship: Int) -> LinkEditor { LinkEditor(self, root, relationship) }
}
