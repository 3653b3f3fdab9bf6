package import Mapping

/// What the records of a page say about the lists nested in them, as far as there is room.
package struct NestedMetadata: Sendable {
    /// What one record says about one list.
    package struct Statement: Sendable {
        /// The index of the entity of the list's owner.
        package let entity: Int
        /// The key of the list's owner.
        package let key: [StoredValue]
        /// The names of the relationships that lead from the record to the list, joined by dots.
        package let path: String
        /// The values as JSON, without secrets, in the order of the configuration.
        package let values: [(name: String, json: String)]
    }

    /// How much there is room for.
    package struct Room: Sendable {
        /// The number of lists.
        package var lists: Int
        /// The total size of the paths and the values, in bytes.
        package var bytes: Int

        /// Creates room.
        package init(lists: Int, bytes: Int) {
            self.lists = lists
            self.bytes = bytes
        }
    }

    /// The remaining room.
    package var room = Room(lists: 0, bytes: 0)
    /// The statements, in the order of the records.
    package private(set) var statements: [Statement] = []
    /// The values that were left out because they are too long, each once: `Post.comments: "next"`.
    package private(set) var omitted: [String] = []
    /// Whether there was no room for a statement.
    package private(set) var isTruncated = false

    mutating func add(_ statement: Statement) {
        guard !statement.values.isEmpty else { return }
        let size = statement.values.reduce(statement.path.utf8.count) { $0 + $1.name.utf8.count + $1.json.utf8.count }
        guard room.lists > 0, room.bytes >= size else {
            isTruncated = true
            return
        }
        room.lists -= 1
        room.bytes -= size
        statements.append(statement)
    }

    /// Notes that values of a list were left out.
    mutating func omit(_ names: [String], of list: String) {
        for name in names {
            let words = "\(list): \"\(name)\""
            if !omitted.contains(words) { omitted.append(words) }
        }
    }
}

extension PageImport {
    /// Notes what records say about their lists, except those of some records.
    func noteMetadata(of page: MixedPage, without left: Set<Int>) {
        for said in page.metadata {
            let row = page.rows[said.row]
            if !left.isEmpty, left.contains(row.record) { continue }
            let layout = model.entities[row.entity]
            if !said.omitted.isEmpty {
                listMetadata.omit(said.omitted, of: "\(layout.name).\(layout.toMany[said.relationship].name)")
            }
            listMetadata.add(
                NestedMetadata.Statement(
                    entity: row.entity, key: key(of: row, page), path: said.path,
                    values: said.values.map { ($0.name, origin.redaction.data($0.json)) }))
        }
    }
}
