internal import BridgeKit
internal import RecordBatch

/// Guesses the entities of a service: which operations list, get, create, update and delete what.
struct ServiceReader {
    private let port: WSDLPort
    private let schemas: SchemaSet

    init(_ port: WSDLPort, _ schemas: SchemaSet) {
        self.port = port
        self.schemas = schemas
    }

    /// An operation whose reply has a list.
    private struct Candidate {
        let operation: WSDLOperation
        let path: [String]
        let record: SchemaElement
        let type: ComplexType
        var missing: [String]
        var paging: OperationPaging
        /// The types of the elements on the way to the records.
        var through: Set<TypeID>
    }

    /// The entities, one for each type of record: of several operations that list it, the one that needs the least.
    func offers() -> [ServiceOffer] {
        var groups: [(type: TypeID, candidates: [Candidate])] = []
        for operation in port.operations where operation.problem == nil && !operation.isOneWay {
            guard let candidate = candidate(operation) else { continue }
            if let index = groups.firstIndex(where: { $0.type == candidate.record.type }) {
                groups[index].candidates.append(candidate)
            } else {
                groups.append((candidate.record.type, [candidate]))
            }
        }
        // What reads one object of another entity is no listing of what that object holds.
        let listed = groups.map(\.type)
        for index in groups.indices {
            let others = Set(listed).subtracting([groups[index].type])
            groups[index].candidates.removeAll { !$0.through.isDisjoint(with: others) }
        }
        var offers: [ServiceOffer] = []
        for group in groups {
            let ranked = group.candidates.enumerated().sorted { left, right in
                func rank(_ candidate: Candidate) -> [Int] {
                    let words = NameWords.split(candidate.operation.name)
                    let verb =
                        words.first.map {
                            ["list", "find", "query", "search", "get", "fetch", "read"].firstIndex(of: $0) ?? 9
                        } ?? 9
                    return [
                        candidate.missing.count, words.contains("by") ? 1 : 0, candidate.paging.rule == nil ? 1 : 0,
                        verb,
                    ]
                }
                let (a, b) = (rank(left.element) + [left.offset], rank(right.element) + [right.offset])
                return a.lexicographicallyPrecedes(b)
            }.map(\.element)
            if let best = ranked.first { offers.append(offer(best, others: Array(ranked.dropFirst()))) }
        }
        relate(&offers)
        return offers
    }

    // MARK: listings

    private func candidate(_ operation: WSDLOperation) -> Candidate? {
        var level = operation.output.elements.map { ([$0.name.local], $0, Set<TypeID>()) }
        var seen: Set<TypeID> = []
        for _ in 0..<6 {
            var next: [([String], SchemaElement, Set<TypeID>)] = []
            for (path, element, through) in level {
                guard case .complex(let type) = schemas[element.type] else { continue }
                if element.isRepeated, !type.children.isEmpty || !type.attributes.isEmpty, path.count > 1 {
                    let paging = OperationPaging(operation, path, schemas)
                    let missing =
                        (try? EnvelopeWriter.write(
                            operation, version: port.version, input: .object([]), schemas: schemas
                        ).missing) ?? []
                    let open = missing.filter { place in !paging.elements.contains { place.hasSuffix("/" + $0) } }
                    return Candidate(
                        operation: operation, path: path, record: element, type: type, missing: open, paging: paging,
                        through: through)
                }
                guard seen.insert(element.type).inserted else { continue }
                next += type.children.map { (path + [$0.name.local], $0, through.union([element.type])) }
            }
            level = next
        }
        return nil
    }

    private func offer(_ best: Candidate, others: [Candidate]) -> ServiceOffer {
        let typeName = schemas.namesOfTypes[best.record.type]?.local
        let wanted = typeName.map { NameWords.withoutEnding($0) } ?? best.record.name.local
        var offer = ServiceOffer(name: wanted.prefix(1).uppercased() + wanted.dropFirst(), type: best.record.type)
        offer.operation = best.operation.name
        offer.records = best.path
        offer.paging = best.paging.rule
        offer.pagingReason = best.paging.reason
        offer.fields = best.type.attributes.map {
            ServiceOffer.Field(path: ["@" + $0.name], type: Self.type(of: $0.kind, ""), isRepeated: false, element: nil)
        }
        for child in best.type.children {
            let path = [child.name.local]
            if let text = simple(child) {
                offer.fields.append(.init(path: path, type: text, isRepeated: false, element: child.type))
            } else if !child.isRepeated, case .complex(let inner) = schemas[child.type], inner.children.count <= 8,
                !inner.children.isEmpty, inner.children.allSatisfy({ simple($0) != nil })
            {
                offer.nested.append((child, inner))
            } else {
                offer.nested.append((child, nil))
            }
        }
        if !best.missing.isEmpty {
            offer.obstacle = "the request needs \(best.missing.prefix(8).joined(separator: ", ")): set them under input"
        }
        let listed = others.map(\.operation.name)
        if !listed.isEmpty { offer.notes.append("also listed by \(listed.prefix(5).joined(separator: ", "))") }
        key(&offer, best)
        offer.write = roles(of: offer, best)
        return offer
    }

    /// The type of an element that is a plain value; nil for others.
    private func simple(_ element: SchemaElement) -> String? {
        guard !element.isRepeated else { return nil }
        switch schemas[element.type] {
        case .simple(let kind):
            let detail = schemas.detail(element.type)
            return detail.isList ? nil : Self.type(of: kind, detail.builtIn)
        default: return nil
        }
    }

    static func type(of kind: SimpleKind, _ builtIn: String) -> String {
        switch kind {
        case .integer: "integer"
        case .decimal: "decimal"
        case .double: "real"
        case .boolean: "boolean"
        case .base64, .hex: "data"
        case .text:
            switch builtIn {
            case "dateTime": "timestamp"
            case "date": "date"
            default: "text"
            }
        }
    }

    // MARK: keys

    /// By the names that keys have, and by what the operation takes that reads one object.
    private func key(_ offer: inout ServiceOffer, _ best: Candidate) {
        let names = offer.fields.filter { ["integer", "text", "decimal"].contains($0.type) }.map { $0.path[0] }
        func find(_ wanted: [String]) -> String? {
            wanted.lazy.compactMap { want in names.first { NameWords.plain($0) == want } }.first
        }
        let entity = NameWords.plain(offer.name)
        if let name = find(["id", "uuid", "guid"]) { return set(&offer, name, ("high", "named \(name)")) }
        if let name = find(["id", "code", "key", "no", "number", "guid", "name"].map { entity + $0 }) {
            return set(&offer, name, ("high", "named after the entity"))
        }
        for operation in port.operations where operation.problem == nil && operation.name != best.operation.name {
            let inputs = arguments(of: operation)
            guard inputs.count == 1, single(operation, best.record.type) != nil else { continue }
            if let name = names.first(where: { NameWords.plain($0) == NameWords.plain(inputs[0].name.local) }) {
                return set(&offer, name, ("high", "\(operation.name) takes it"))
            }
        }
        if let name = find(["code", "key", "sku", "isbn", "number", "symbol", "login", "username"]) {
            return set(&offer, name, ("medium", "named \(name)"))
        }
        let endings = names.filter { ["id", "code", "key", "uuid", "guid"].contains(NameWords.split($0).last ?? "") }
        if let first = endings.first {
            return set(
                &offer, first,
                endings.count == 1
                    ? ("medium", "it ends like a key") : ("low", "the first of \(endings.count) that end like a key"))
        }
        if let name = find(["name", "title"]) { return set(&offer, name, ("low", "no better element than \(name)")) }
        if offer.obstacle == nil { offer.obstacle = "no element looks like a key: name one under key" }
        offer.keyConfidence = ("low", "no element looks like a key")
    }

    private func set(_ offer: inout ServiceOffer, _ name: String, _ confidence: (String, String)) {
        offer.key = name
        offer.keyConfidence = confidence
    }

    // MARK: roles

    /// What an operation's request takes: the elements inside the only one of a wrapped message.
    private func arguments(of operation: WSDLOperation) -> [SchemaElement] {
        let elements = operation.input.elements
        guard elements.count == 1 else { return elements }
        return children(elements[0])
    }

    private func children(_ element: SchemaElement) -> [SchemaElement] {
        if case .complex(let type) = schemas[element.type] { return type.children }
        return []
    }

    /// The path to one object of a type in an operation's reply.
    private func single(_ operation: WSDLOperation, _ type: TypeID) -> [String]? {
        var level = operation.output.elements.map { ([$0.name.local], $0) }
        for _ in 0..<4 {
            if let found = level.first(where: { $0.1.type == type && !$0.1.isRepeated }) { return found.0 }
            level = level.flatMap { path, element in
                element.isRepeated ? [] : children(element).map { (path + [$0.name.local], $0) }
            }
        }
        return nil
    }

    private static let verbs: [String: [String]] = [
        "create": ["create", "add", "insert", "new", "register", "post"],
        "update": ["update", "modify", "edit", "change", "set", "put", "save"],
        "delete": ["delete", "remove", "drop", "cancel", "destroy"],
    ]

    /// The operations that change the entity's objects, by their verbs and what they take.
    private func roles(of offer: ServiceOffer, _ best: Candidate) -> [(
        name: String, members: [(String, String)], reason: String
    )] {
        let subject = [offer.name, schemas.namesOfTypes[best.record.type]?.local ?? "", best.record.name.local].map(
            NameWords.plain)
        return ["create", "update", "delete"].compactMap { role in
            for operation in port.operations where operation.problem == nil {
                let words = NameWords.split(operation.name)
                guard let verb = words.first(where: { Self.verbs[role]?.contains($0) == true }) else { continue }
                let rest = words.filter { $0 != verb }.joined()
                let takes = arguments(of: operation)
                let object = takes.first { $0.type == best.record.type && !$0.isRepeated }
                let isSubject = subject.contains {
                    !$0.isEmpty && (rest == $0 || NameWords.singular(rest) == NameWords.singular($0))
                }
                guard isSubject || (object != nil && role != "delete") else { continue }
                var members = [("operation", operation.name)]
                if role != "delete" {
                    guard
                        object != nil
                            || takes.contains(where: { element in
                                offer.fields.contains { $0.path == [element.name.local] }
                            })
                    else { continue }
                    if let object { members.append(("values", object.name.local)) }
                }
                if role != "create", let key = offer.key {
                    let entity = NameWords.plain(offer.name)
                    let wanted = [NameWords.plain(key), entity + NameWords.plain(key), "id", entity + "id", entity]
                    let plain = takes.filter { simple($0) != nil }
                    if let element = wanted.lazy.compactMap({ want in
                        plain.first { NameWords.plain($0.name.local) == want }
                    }).first
                        ?? (plain.count == 1 ? plain.first : nil)
                    {
                        members.append(("key", element.name.local))
                    } else if role == "delete" {
                        continue
                    }
                }
                return (role, members, operation.name)
            }
            return nil
        }
    }

    // MARK: relationships

    /// Elements of another entity's type, and those named like the key of one.
    private func relate(_ offers: inout [ServiceOffer]) {
        let targets = offers.filter { $0.obstacle == nil && $0.key != nil }
        for index in offers.indices {
            let fields = offers[index].fields
            for field in fields where field.path != [offers[index].key ?? ""] {
                let words = NameWords.split(field.path[0])
                guard words.count > 1, ["id", "code", "key"].contains(words.last ?? "") else { continue }
                let stem = words.dropLast().joined()
                let last = words.last ?? ""
                guard let target = targets.first(where: { NameWords.plain($0.name) == stem }), let key = target.key,
                    NameWords.plain(key) == last || NameWords.plain(key) == stem + last,
                    target.fields.first(where: { $0.path == [key] })?.type == field.type
                else { continue }
                offers[index].fields.removeAll { $0.path == field.path }
                let name = String(field.path[0].dropLast(last.count))
                offers[index].relationships.append(
                    .init(
                        name: name, target: target.name, isToMany: false, path: field.path,
                        confidence: ("medium", "named like the key of \(target.name)")))
            }
            for (child, inner) in offers[index].nested {
                let isArray: Bool
                var type = child.type
                var path = [child.name.local]
                if case .complex(let wrapper) = schemas[child.type], wrapper.children.count == 1,
                    wrapper.children[0].isRepeated,
                    wrapper.attributes.isEmpty
                {
                    isArray = true
                    type = wrapper.children[0].type
                    path.append(wrapper.children[0].name.local)
                } else {
                    isArray = child.isRepeated
                }
                if let target = targets.first(where: { $0.type == type }) {
                    offers[index].relationships.append(
                        .init(
                            name: child.name.local, target: target.name, isToMany: isArray, path: path,
                            confidence: ("high", "of the type of \(target.name)")))
                } else if let inner, !isArray {
                    for element in inner.children {
                        if let text = simple(element) {
                            offers[index].fields.append(
                                .init(
                                    path: [child.name.local, element.name.local], type: text, isRepeated: false,
                                    element: element.type))
                        }
                    }
                } else {
                    offers[index].fields.append(
                        .init(path: [child.name.local], type: "json", isRepeated: true, element: nil))
                }
            }
        }
    }
}
