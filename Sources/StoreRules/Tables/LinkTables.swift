/// A row of a link table, seen from one end.
package struct Link: Equatable, Sendable {
    /// The position in the source's list.
    package var position: Int64
    /// The key at the other end.
    package var key: RowKey

    package init(position: Int64, key: RowKey) {
        self.position = position
        self.key = key
    }
}

/// The link tables of an open transaction: for each source and position, a target.
package protocol LinkTables: AnyObject {
    /// Returns the links of a source, by position.
    func links(_ table: String, of source: RowKey) throws -> [Link]

    /// Returns the links to a target, by position and then by source.
    func reversedLinks(_ table: String, to target: RowKey) throws -> [Link]

    /// Sets the target at a position, or removes it if nil.
    func setLink(_ table: String, of source: RowKey, at position: Int64, to target: RowKey?) throws
}
