internal import BridgeJSON
internal import BridgeKit

/// The values that a request selects, for APIs that can leave out the others: `fields`, the variable `{fields}`.
enum SelectedFields {
    /// How the paths are written.
    enum Notation: String, CaseIterable, Sendable {
        /// `id,name,owner`: the members of a record (OData's `$select`, JSON:API's `fields[TYPE]`).
        case names
        /// `id,name,owner.id`
        case dots
        /// `id,name,owner(id)`
        case parentheses
        /// `id,name,owner{id}`
        case braces
        /// `id name owner { id }`: a selection set.
        case graphQL = "graphql"
    }

    /// Returns the value of `{fields}`; nil without any.
    ///
    /// - Parameters:
    ///   - paths: The paths that the host reads; nil for any value, which no selection can ask for.
    ///   - others: The paths that the bridge itself reads in a record.
    static func text(
        _ notation: Notation, _ paths: [[String]]?, besides others: [[String]], leavingOut names: Set<String>
    ) -> String? {
        guard let paths else { return nil }
        var tree = Tree()
        for path in paths + others where path.first.map({ !names.contains($0) }) == true {
            // An API selects fields, and not elements of lists: the mapping takes the element.
            tree.insert((path.prefix(1) + path.dropFirst().filter { !Self.isIndex($0) })[...])
        }
        guard !tree.children.isEmpty else { return nil }
        switch notation {
        case .names: return tree.children.map(\.name).joined(separator: ",")
        case .dots: return tree.paths.joined(separator: ",")
        case .parentheses: return tree.text(open: "(", close: ")", separator: ",")
        case .braces: return tree.text(open: "{", close: "}", separator: ",")
        case .graphQL: return tree.text(open: " { ", close: " }", separator: " ")
        }
    }

    private static func isIndex(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Paths as a tree, in the order of their first occurrence.
    private struct Tree {
        var children: [(name: String, tree: Tree)] = []

        mutating func insert(_ path: ArraySlice<String>) {
            guard let name = path.first else { return }
            if let index = children.firstIndex(where: { $0.name == name }) {
                children[index].tree.insert(path.dropFirst())
            } else {
                var tree = Tree()
                tree.insert(path.dropFirst())
                children.append((name, tree))
            }
        }

        var paths: [String] {
            children.flatMap { name, tree in
                tree.children.isEmpty ? [name] : tree.paths.map { "\(name).\($0)" }
            }
        }

        func text(open: String, close: String, separator: String) -> String {
            children.map { name, tree in
                tree.children.isEmpty
                    ? name : name + open + tree.text(open: open, close: close, separator: separator) + close
            }.joined(separator: separator)
        }
    }
}

extension RESTSection {
    /// Returns the notation of `fields`.
    ///
    /// - Throws: ``BridgeError`` for an unknown one.
    static func notation(_ section: BridgeOptions) throws -> SelectedFields.Notation? { try choice(section, "fields") }

    /// Returns the value of `{fields}`.
    ///
    /// - Throws: ``BridgeError`` where a selection set would be empty.
    static func selectedFields(
        _ notation: SelectedFields.Notation, _ request: FetchRequest, _ section: BridgeOptions, _ preset: Preset?
    ) throws -> String? {
        var others: [[String]] = []
        if let paging = section.object("paging"), ["keyset", "max_id", "since_id"].contains(paging.string("style")),
            let path = keysetPath(paging)
        {
            others.append(path)
        }
        if let name = section.string("records").flatMap(recordFilter) { others.append([name]) }
        // Those are members that the bridge adds.
        var added = Set(
            (section.object("header_fields")?.names ?? []) + (section.object("request_fields")?.names ?? []))
        // Every resource has these, and they are not fields.
        if preset == .jsonAPI { added.formUnion(["id", "type"]) }
        let text = SelectedFields.text(notation, request.fieldPaths, besides: others, leavingOut: added)
        guard text == nil, notation == .graphQL else { return text }
        throw BridgeError(
            .configuration,
            "fields: the mapping may read any value of a record, so that no selection set can be written",
            remedy: "write the selection set into graphql.query, or remove \"extra\" and sub-entities")
    }

    /// Returns the names that lead to a keyset's field, if it is inside the record.
    private static func keysetPath(_ paging: BridgeOptions) -> [String]? {
        let field = paging.string("field") ?? "id"
        let path = try? JSONPath(field.hasPrefix("$") ? field : "$.\(field)", option: "paging.field")
        let names =
            path?.segments.compactMap { segment -> String? in if case .name(let name) = segment { name } else { nil } }
            ?? []
        return names.isEmpty || names.count != path?.segments.count ? nil : names
    }

    /// Returns the member by which `records` selects the records themselves.
    private static func recordFilter(_ records: String) -> String? {
        let path = try? JSONPath(records, option: "records")
        guard case .filter(let name, _)? = path?.segments.last else { return nil }
        return name
    }
}
