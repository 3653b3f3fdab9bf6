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
                    .configuration,
                    "\"\(option)\" names \"\(name)\", but \(place) has no such element"
                        + NearestName.question(level.elements.map(\.name.local), to: name),
                    remedy: "its elements: \(NearestName.list(level.elements.map(\.name.local), to: name))")
            }
            place = "<\(name)>"
            level = children(of: found.type)
        }
        return names
    }

    /// The paths of what a record may hold, with `/` between names, and `*` for anything; empty where nothing is known.
    func fields(_ path: [String]) -> [String] {
        guard let path = try? checked(path, option: "records") else { return [] }
        var level = operation.output.elements
        var record: SchemaElement?
        for name in path {
            guard let next = level.first(where: { $0.name.local == name }) ?? (level.count == 1 ? level[0] : nil) else {
                return []
            }
            record = next
            level = children(of: next.type).elements
        }
        guard var type = record?.type else { return [] }
        if case .complex(let array) = schemas[type], array.isArray {
            guard let member = array.children.first else { return [] }
            type = member.type
        }
        var found: [String] = []
        collect(type, below: "", depth: 0, into: &found)
        return found
    }

    private func collect(_ id: TypeID, below place: String, depth: Int, into found: inout [String]) {
        guard found.count < 500 else { return found.append(place + "*") }
        switch schemas[id] {
        case .any: found.append(place + "*")
        case .simple: if depth == 0 { found.append("#text") }
        case .complex(let type):
            var types = [type]
            for name in schemas.namesOfTypes[id].map({ schemas.concreteTypes(of: $0) }) ?? [] {
                if let other = schemas.typeNames[name], case .complex(let derived) = schemas[other] {
                    types.append(derived)
                }
            }
            var names: Set<String> = []
            func add(_ name: String) -> Bool {
                guard names.insert(name).inserted else { return false }
                found.append(place + name)
                return true
            }
            if types.count > 1 || type.isArray { _ = add("@xsi:type") }
            for type in types {
                if type.isOpen || type.isArray { _ = add("*") }
                for attribute in type.attributes { _ = add("@" + attribute.name) }
                if type.text != nil || type.isMixed { _ = add("#text") }
                for child in type.children where add(child.name.local) {
                    if depth < 3 {
                        collect(child.type, below: "\(place)\(child.name.local)/", depth: depth + 1, into: &found)
                    } else {
                        found.append("\(place)\(child.name.local)/*")
                    }
                }
            }
        }
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
