internal import Inference

/// Finds the operations that get, create, update and delete an entity's objects.
extension ServiceReader {
    /// Returns the arguments of an operation: the elements inside the only element of a wrapped message.
    func arguments(of operation: WSDLOperation) -> [SchemaElement] { Self.arguments(of: operation, schemas) }

    static func arguments(of operation: WSDLOperation, _ schemas: SchemaSet) -> [SchemaElement] {
        let elements = operation.input.elements
        guard elements.count == 1, case .complex(let type) = schemas[elements[0].type] else { return elements }
        return type.children
    }

    /// Returns the shortest path to each single object in an operation's reply, by type.
    static func singles(_ operation: WSDLOperation, _ schemas: SchemaSet) -> [TypeID: [String]] {
        var found: [TypeID: [String]] = [:]
        var level = operation.output.elements.map { ([$0.name.local], $0) }
        for _ in 0..<4 {
            var next: [([String], SchemaElement)] = []
            for (path, element) in level where !element.isRepeated {
                // A type that was already visited holds nothing nearer.
                guard case .complex(let type) = schemas[element.type], found[element.type] == nil else { continue }
                found[element.type] = path
                next += type.children.map { (path + [$0.name.local], $0) }
            }
            level = next
        }
        return found
    }

    /// Returns the operations that change the entity's objects, by their verbs and arguments.
    func roles(of offer: ServiceOffer, _ best: Candidate) -> [ServiceOffer.Role] {
        let verbs: [(String, OperationVerb)] = [("create", .creates), ("update", .updates), ("delete", .deletes)]
        return verbs.compactMap { name, verb in
            let fitting = operations(verb, offer, best)
            return fitting.lazy.compactMap { operation in
                members(of: operation, verb, offer, best).map {
                    ServiceOffer.Role(name: name, members: $0, operation: operation.name)
                }
            }.first
        }
    }

    /// Returns the operations with a verb that concern the entity, those named after it first.
    private func operations(_ verb: OperationVerb, _ offer: ServiceOffer, _ best: Candidate) -> [WSDLOperation] {
        let subjects = subjects(of: offer.name, best)
        let singulars = subjects.map(NameWords.singular)
        let related = related(to: best.record.type, subjects, singulars: singulars)
        let found = related.compactMap { index, operation -> (rank: [Int], WSDLOperation)? in
            let split = split(operation)
            guard operation.problem == nil, split.verb == verb else { return nil }
            let isNamed = isSame(split, subjects, singulars: singulars)
            guard isNamed || (verb != .deletes && object(of: operation, best) != nil) else { return nil }
            return ([isNamed ? 0 : 1, OperationVerb.rank(split.word), index], operation)
        }
        return found.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.map(\.1)
    }

    /// Returns the argument that takes a whole object.
    private func object(of operation: WSDLOperation, _ best: Candidate) -> SchemaElement? {
        guard case .complex = schemas[best.record.type] else { return nil }
        return arguments(of: operation).first { $0.type == best.record.type && !$0.isRepeated }
    }

    /// Returns the section's members for an operation; nil if the operation is unsuitable.
    private func members(
        of operation: WSDLOperation, _ verb: OperationVerb, _ offer: ServiceOffer, _ best: Candidate
    ) -> [(String, String)]? {
        var members = [("operation", operation.name)]
        let object = object(of: operation, best)
        let takes = arguments(of: operation)
        if verb != .deletes {
            let names = Set(offer.fields.filter { $0.path.count == 1 }.map { $0.path[0] })
            guard object != nil || takes.contains(where: { names.contains($0.name.local) }) else { return nil }
            if let object { members.append(("values", object.name.local)) }
        }
        if verb == .creates {
            if let key = offer.key, let path = newKey(operation, key, offer, best) {
                members += [("reply_key", path.joined(separator: "/")), ("key_field", key)]
            }
            return members
        }
        if let element = keyArgument(of: operation, offer, best, takesAny: verb == .deletes) {
            members.append(("key", element.name.local))
        } else if object == nil || verb == .deletes {
            return nil
        }
        return members
    }

    /// Returns the argument that takes the key: by its name, or because it is the only one.
    func keyArgument(
        of operation: WSDLOperation, _ offer: ServiceOffer, _ best: Candidate, takesAny: Bool
    ) -> SchemaElement? {
        guard let key = offer.key else { return nil }
        let type = offer.fields.first { $0.path == [key] }?.type
        // An argument that takes several keys also takes one.
        let plain = arguments(of: operation).filter { argument in
            guard case .simple(let kind) = schemas[argument.type] else { return false }
            return Self.type(of: kind, schemas.detail(argument.type).builtIn) == type
        }
        let subjects = subjects(of: offer.name, best)
        let own = NameWords.plain(key)
        let wanted = [own] + subjects.map { $0 + own } + ["id"] + subjects.map { $0 + "id" } + subjects
        let named = wanted.lazy.compactMap { want in
            plain.first { argument in
                let name = NameWords.plain(argument.name.local)
                return name == want || NameWords.singular(name) == want
            }
        }.first
        if let named { return named }
        return takesAny && plain.count == 1 && arguments(of: operation).count == 1 ? plain[0] : nil
    }

    /// Returns the path of the new key in the reply to a create that does not return the object.
    private func newKey(
        _ operation: WSDLOperation, _ key: String, _ offer: ServiceOffer, _ best: Candidate
    ) -> [String]? {
        guard !operation.isOneWay, single(operation, best.record.type) == nil,
            let body = operation.output.elements.first, operation.output.elements.count == 1,
            case .complex(let type) = schemas[body.type], type.children.count == 1,
            case .simple(let kind) = schemas[type.children[0].type], !type.children[0].isRepeated,
            let field = offer.fields.first(where: { $0.path == [key] }),
            Self.type(of: kind, schemas.detail(type.children[0].type).builtIn) == field.type
        else { return nil }
        return [body.name.local, type.children[0].name.local]
    }

    /// Returns the operation that reads one object by its key.
    func readOne(of offer: ServiceOffer, _ best: Candidate) -> ServiceOffer.ReadOne? {
        guard let key = offer.key, key.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_@".contains($0)) })
        else { return nil }
        for (_, operation) in related(to: best.record.type, [], singulars: [])
        where operation.problem == nil && operation.name != best.operation.name {
            guard [.reads, nil].contains(split(operation).verb),
                let path = single(operation, best.record.type),
                let argument = keyArgument(of: operation, offer, best, takesAny: true)
            else { continue }
            let others = arguments(of: operation).contains { $0.isRequired && $0.name != argument.name }
            guard !others else { continue }
            return ServiceOffer.ReadOne(
                operation: operation.name, records: path, element: argument.name.local,
                attribute: key.hasPrefix("@") ? String(key.dropFirst()) : key)
        }
        return nil
    }

    /// Notes the values that the schema requires of a new object and that have no source.
    func addLacking(to offer: inout ServiceOffer, _ best: Candidate) {
        guard let role = offer.write.first(where: { $0.name == "create" }),
            let operation = port.operations.first(where: { $0.name == role.operation }), !operation.input.isEncoded
        else { return }
        let values = object(of: operation, best)?.name.local
        let input = InputValue.object(values.map { [.init(name: $0, value: .object([]))] } ?? [])
        let missing =
            (try? EnvelopeWriter.write(operation, version: port.version, input: input, schemas: schemas).missing) ?? []
        let place = (operation.input.elements.prefix(1).map(\.name.local) + [values].compactMap(\.self)).joined(
            separator: "/")
        let known = Set(offer.fields.compactMap(\.path.first) + offer.nested.map(\.name)).subtracting([
            offer.key ?? ""
        ])
        let lacking = missing.filter { path in
            guard path.hasPrefix(place + "/") else { return true }
            return !known.contains(String(path.dropFirst(place.count + 1).prefix { $0 != "/" }))
        }
        guard !lacking.isEmpty else { return }
        offer.notes.append(
            "\(operation.name) requires \(lacking.prefix(8).joined(separator: ", ")), which a new object does not have: "
                + "name constants under write.create.input")
    }
}
