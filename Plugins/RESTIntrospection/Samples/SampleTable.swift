package import BridgeJSON

/// A reply whose records are arrays, with column names beside them or in the first row.
package struct SampleTable {
    /// The section's `records`, or nil if the root is the table.
    package private(set) var records: String?
    /// The section's `columns`.
    package private(set) var columns: String

    /// The maximum depth of the table and of its names.
    private static let maxDepth = 2

    package init?(_ reply: JSONTree) {
        if let rows = reply.elements {
            guard rows.count > 1, Self.isTable(rows), let names = Self.names(rows[0]), Set(names).count == names.count,
                rows[1].elements?.count == names.count
            else { return nil }
            self.init(records: nil, columns: "$[0]")
            return
        }
        var lists: [(path: [String], elements: [JSONTree])] = []
        Self.collect(reply, [], into: &lists)
        let tables = lists.filter { Self.isTable($0.elements) }
        guard let table = tables.max(by: { $0.elements.count < $1.elements.count }), let row = table.elements.first,
            // A longer list of objects is more likely the requested one.
            !lists.contains(where: { $0.elements.count > table.elements.count && $0.elements[0].isObject }),
            let columns = lists.first(where: { list in
                list.path != table.path && row.elements?.count == list.elements.count
                    && list.elements.allSatisfy { Self.name($0) != nil }
            })
        else { return nil }
        self.init(records: JSONPathText.of(table.path), columns: JSONPathText.of(columns.path))
    }

    private init(records: String?, columns: String) {
        self.records = records
        self.columns = columns
    }

    /// Whether the elements are rows of equal length.
    ///
    /// Coordinates are lists of lists too, but have no names beside them.
    private static func isTable(_ elements: [JSONTree]) -> Bool {
        guard let width = elements.first?.elements?.count, width > 0 else { return false }
        return elements.allSatisfy { $0.elements?.count == width }
    }

    private static func names(_ row: JSONTree) -> [String]? {
        guard let values = row.elements else { return nil }
        let names = values.compactMap(\.text)
        return names.count == values.count ? names : nil
    }

    private static func name(_ value: JSONTree) -> String? { value.text ?? value["name"]?.text ?? value["field"]?.text }

    private static func collect(
        _ value: JSONTree, _ path: [String], into lists: inout [(path: [String], elements: [JSONTree])]
    ) {
        for member in value.members {
            if let elements = member.value.elements {
                if !elements.isEmpty { lists.append((path + [member.name], elements)) }
            } else if path.count + 1 < maxDepth {
                collect(member.value, path + [member.name], into: &lists)
            }
        }
    }
}
