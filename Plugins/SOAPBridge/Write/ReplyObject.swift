/// Finds the object in the reply to a change: the element of the type that the listing's records have.
struct ReplyObject {
    private static let maxDepth = 5
    private static let maxElements = 10_000

    /// The paths, from the body's element, of the elements of that type that are nearest to it.
    ///
    /// Without any, those of lists and of elements in lists: a service that changes several objects at once answers with
    /// a list, whose only element is the object.
    let paths: [[String]]

    init(in operation: WSDLOperation, of type: TypeID, _ schemas: SchemaSet) {
        var level = operation.output.elements.filter { !$0.isRepeated }.map { ([$0.name.local], $0) }
        var found: [[String]] = []
        for _ in 0..<Self.maxDepth {
            found = level.filter { $0.1.type == type && $0.0.count > 1 }.map(\.0)
            guard found.isEmpty else { break }
            level = level.flatMap { path, element in
                Self.members(element, schemas).map { (path + [$0.name.local], $0) }
            }
        }
        paths = found.isEmpty ? Self.listed(in: operation, of: type, schemas) : found
    }

    /// Returns the paths of all elements of that type, also through lists.
    private static func listed(in operation: WSDLOperation, of type: TypeID, _ schemas: SchemaSet) -> [[String]] {
        guard type != schemas.anyType else { return [] }
        var level = operation.output.elements.map { ([$0.name.local], $0) }
        var found: [[String]] = []
        for _ in 0..<maxDepth {
            var inner: [([String], SchemaElement)] = []
            for (path, element) in level {
                if element.type == type, path.count > 1 {
                    found.append(path)
                } else {
                    inner += children(element, schemas).map { (path + [$0.name.local], $0) }
                }
            }
            guard inner.count <= maxElements else { return [] }
            level = inner
        }
        return found
    }

    /// The path of the object; empty if none or several elements may be the object, such as those before and after.
    var path: [String] { paths.count == 1 ? paths[0] : [] }

    private static func members(_ element: SchemaElement, _ schemas: SchemaSet) -> [SchemaElement] {
        children(element, schemas).filter { !$0.isRepeated }
    }

    private static func children(_ element: SchemaElement, _ schemas: SchemaSet) -> [SchemaElement] {
        guard case .complex(let type) = schemas[element.type] else { return [] }
        return type.children
    }
}
