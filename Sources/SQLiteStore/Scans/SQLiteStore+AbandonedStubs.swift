internal import GRDB
internal import Mapping
internal import StoreContract
internal import StoreRules

extension SQLiteStore {
    /// Removes all unreferenced stubs, which other programs or earlier versions of bmo have left.
    ///
    /// Takes the write lock only if there are any. Call it between pages.
    ///
    /// - Returns: The number of stubs removed.
    /// - Throws: `StoreError`.
    @discardableResult
    public func removeAbandonedStubs() throws -> Int {
        var count = 0
        for layout in model.entities where layout.index == layout.root && !layout.key.isEmpty {
            var last = ""
            while let (keys, next) = try abandonedStubs(of: layout, after: last) {
                last = next
                guard !keys.isEmpty else { continue }
                let page = try beginOwnPage()
                do {
                    try page.access {
                        page.touch(layout.index)
                        for key in keys { try writers.abandoned.note(layout.index, key) }
                    }
                    try page.commit()
                } catch {
                    page.rollback()
                    throw error
                }
                count += keys.count
            }
        }
        return count
    }

    /// Returns the abandoned stubs among the next thousand stubs, and the position to continue from; nil at the end.
    private func abandonedStubs(
        of layout: EntityLayout, after last: String
    ) throws -> (keys: [[StoredValue]], last: String)? {
        try SQLiteStore.translating("looking for abandoned stubs") {
            try writer.writeWithoutTransaction { db in
                let writers = try writers
                guard writers.abandoned.mayHave(layout.index) else { return nil }
                let select = RawStatement(
                    "SELECT key FROM bmo_stubs WHERE entity = ? AND key > ? ORDER BY key LIMIT 1000",
                    on: db.sqliteConnection)
                select.bind(layout.name, at: 1)
                select.bind(last, at: 2)
                var texts: [String] = []
                while try select.step() { texts.append(select.text(0) ?? "") }
                select.reset()
                guard let end = texts.last else { return nil }
                let keys = try texts.compactMap(layout.key(from:)).filter {
                    try writers.abandonedRemover.isAbandoned(layout.index, $0)
                }
                return (keys, end)
            }
        }
    }
}
