internal import BridgeKit

/// Validates configured paths against the schema of a reply, so that a typing error does not look like an empty
/// listing.
struct ReplyPaths {
    private let operation: WSDLOperation
    private let schemas: SchemaSet
    /// Whether the content of a wrapper is read as a plain list.
    private let unwraps: Bool

    init(_ operation: WSDLOperation, _ schemas: SchemaSet, unwraps: Bool = false) {
        self.operation = operation
        self.schemas = schemas
        self.unwraps = unwraps
    }

    /// Returns the path from the body's element, without prefixes; `path` may omit that element if there is only one.
    ///
    /// - Throws: ``BridgeError`` configuration for a name that the schema lacks, with the names it has.
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

    /// Returns the element of a record; for a path that ends at an array, the array's member.
    ///
    /// Nil if the schema does not describe it.
    func record(_ path: [String]) -> SchemaElement? {
        guard let path = try? checked(path, option: "records") else { return nil }
        var level = operation.output.elements
        var record: SchemaElement?
        for name in path {
            guard let next = level.first(where: { $0.name.local == name }) ?? (level.count == 1 ? level[0] : nil) else {
                return nil
            }
            record = next
            level = children(of: next.type).elements
        }
        guard let record, case .complex(let array) = schemas[record.type], array.isArray else { return record }
        return array.children.first
    }

    /// Returns the paths of a record's possible content, with `/` between names and `*` for anything; empty if unknown.
    func fields(_ path: [String]) -> [String] {
        guard let type = record(path)?.type else { return [] }
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
                let attributes = type.valueAttributes
                // Two attributes with one local name have prefixes, which only the reply knows.
                let areNamesakes = Set(attributes.map(\.name)).count < attributes.count
                // So have elements, and their names may contain slashes.
                if type.isOpen || type.isArray || areNamesakes || !type.namesakes.isEmpty { _ = add("*") }
                for attribute in attributes { _ = add("@" + attribute.name) }
                if type.text != nil || type.isMixed { _ = add("#text") }
                for child in type.children where add(child.name.local) {
                    if depth < 3 {
                        collect(
                            listed(child.type), below: "\(place)\(child.name.local)/", depth: depth + 1, into: &found)
                    } else {
                        found.append("\(place)\(child.name.local)/*")
                    }
                }
            }
        }
    }

    /// Returns the member type of a plain list; otherwise the type itself.
    private func listed(_ id: TypeID) -> TypeID {
        guard unwraps, case .complex(let type) = schemas[id], let member = type.wrapped else { return id }
        return member.type
    }

    private struct Level {
        var elements: [SchemaElement]
        /// Whether other elements are allowed.
        var isOpen: Bool
        var isArray = false
    }

    private func children(of id: TypeID) -> Level {
        switch schemas[id] {
        case .any: return Level(elements: [], isOpen: true)
        case .simple: return Level(elements: [], isOpen: false)
        case .complex(let type):
            // A derived type may have more elements.
            let isBase = schemas.namesOfTypes[id].map { schemas.derivedTypes[$0] != nil } ?? false
            return Level(elements: type.children, isOpen: type.isOpen || isBase, isArray: type.isArray)
        }
    }
}
