internal import BridgeKit

/// Paths of the config into a reply, held against its schema: a typing error must not look like an empty listing.
struct ReplyPaths {
    private let operation: WSDLOperation
    private let schemas: SchemaSet

    init(_ operation: WSDLOperation, _ schemas: SchemaSet) {
        self.operation = operation
        self.schemas = schemas
    }

    /// The path from the body's element, which may be left out where there is only one; prefixes go.
    ///
    /// - Throws: ``BridgeError`` configuration for a name that the schema doesn't have, with those that it has.
    func checked(_ path: [String], option: String) throws(BridgeError) -> [String] {
        let names = path.map { name in
            name.hasPrefix("@") ? name : String(name.split(separator: ":").last ?? "")
        }
        let body = operation.output.elements
        if body.count == 1, names[0] != "*", names[0] != body[0].name.local,
            children(of: body[0].type).elements.contains(where: { $0.name.local == names[0] })
        {
            return try checked([body[0].name.local] + names, option: option)
        }
        var level = Level(elements: body, isOpen: body.isEmpty)
        var place = "the reply of \"\(operation.name)\""
        for (index, name) in names.enumerated() {
            if name.hasPrefix("@"), index == names.count - 1, index > 0 { return names }
            if name == "*" {
                guard level.elements.count == 1 else { return names }
            }
            guard let found = level.elements.first(where: { $0.name.local == name || name == "*" || level.isArray })
            else {
                if level.isOpen { return names }
                throw BridgeError(
                    .configuration, "\"\(option)\" names \"\(name)\", but \(place) has no such element",
                    remedy: "its elements: \(NearestName.list(level.elements.map(\.name.local), to: name))")
            }
            place = "<\(name)>"
            level = children(of: found.type)
        }
        return names
    }

    private struct Level {
        var elements: [SchemaElement]
        /// Other elements may come.
        var isOpen: Bool
        var isArray = false
    }

    private func children(of id: TypeID) -> Level {
        switch schemas[id] {
        case .any: return Level(elements: [], isOpen: true)
        case .simple: return Level(elements: [], isOpen: false)
        case .complex(let type):
            // A derived type may have more.
            let isBase = schemas.namesOfTypes[id].map { schemas.derivedTypes[$0] != nil } ?? false
            return Level(elements: type.children, isOpen: type.isOpen || isBase, isArray: type.isArray)
        }
    }
}
