internal import BridgeJSON

/// The members of a POST's body that may be parameters of a listing, such as `limit` and `pagination.page`.
struct SearchBody {
    /// The members as parameters, by their last names.
    private(set) var parameters: [QueryParameter] = []
    /// The whole name of each, with dots, by its last one.
    private(set) var names: [String: String] = [:]
    /// The required members with values that the document has.
    private(set) var values: [(path: [String], value: JSONTree)] = []
    /// The required members without such a value.
    private(set) var missing: [String] = []

    /// Objects in the body that only hold the page.
    private static let homes = ["page", "paging", "pagination", "pageable", "pageinfo", "pagerequest", "options"]
    private static let maxDepth = 8
    /// The maximum number of schemas that one object is put together from.
    private static let maxSchemas = 2_000

    /// - Returns: nil if the body is not an object of JSON with known members.
    init?(_ schema: JSONTree, in document: OpenAPIDocument) {
        let (properties, required) = Self.properties(of: schema, in: document)
        guard !properties.isEmpty else { return nil }
        for (name, property) in properties { add([name], property, isRequired: required.contains(name), document) }
        for (name, property) in properties where Self.homes.contains(Self.plain(name)) {
            let inner = Self.properties(of: property, in: document)
            for (child, schema) in inner.properties {
                add(
                    [name, child], schema, isRequired: required.contains(name) && inner.required.contains(child),
                    document)
            }
        }
    }

    private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter } }

    private mutating func add(_ path: [String], _ schema: JSONTree, isRequired: Bool, _ document: OpenAPIDocument) {
        guard let last = path.last, names[last] == nil else { return }
        let value = document.resolve(schema).value
        let shape = document.shape(schema)
        let known = (value["default"] ?? value["example"] ?? value["enum"]?.elements?.first).map(shape.written)
        names[last] = path.joined(separator: ".")
        parameters.append(
            QueryParameter(
                name: last, isRequired: isRequired, shape: shape, value: known, standard: value["default"],
                maximum: value["maximum"]?.integer, minimum: value["minimum"]?.integer))
        guard isRequired, !Self.homes.contains(Self.plain(last)) else { return }
        if let known {
            values.append((path, known))
        } else if shape.isObject, shape.required.isEmpty {
            // A filter without conditions.
            values.append((path, .object([])))
        } else {
            missing.append(path.joined(separator: "."))
        }
    }

    /// Leaves the members to the paging that it sends itself.
    mutating func remove(_ parameters: Set<String>) {
        let whole = Set(parameters.compactMap { names[$0] })
        values.removeAll { whole.contains($0.path.joined(separator: ".")) }
        missing.removeAll(where: whole.contains)
    }

    /// The members of an object, with those of the schemas that it is made of.
    static func properties(
        of schema: JSONTree, in document: OpenAPIDocument
    ) -> (properties: [(name: String, schema: JSONTree)], required: Set<String>) {
        var budget = maxSchemas
        return properties(of: schema, in: document, depth: 0, &budget)
    }

    private static func properties(
        of schema: JSONTree, in document: OpenAPIDocument, depth: Int, _ budget: inout Int
    ) -> (properties: [(name: String, schema: JSONTree)], required: Set<String>) {
        budget -= 1
        guard depth < maxDepth, budget > 0 else { return ([], []) }
        let value = document.resolve(schema).value
        var found = (value["properties"]?.members ?? []).map { (name: $0.name, schema: $0.value) }
        var required = Set((value["required"]?.elements ?? []).compactMap(\.text))
        var names = Set(found.map(\.name))
        for part in value["allOf"]?.elements ?? [] {
            let more = properties(of: part, in: document, depth: depth + 1, &budget)
            found += more.properties.filter { names.insert($0.name).inserted }
            required.formUnion(more.required)
        }
        return (found, required)
    }
}
