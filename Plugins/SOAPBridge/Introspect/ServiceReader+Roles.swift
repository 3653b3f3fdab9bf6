/// Which operations get, create, update and delete an entity's objects.
extension ServiceReader {
    /// What an operation's request takes: the elements inside the only one of a wrapped message.
    func arguments(of operation: WSDLOperation) -> [SchemaElement] {
        let elements = operation.input.elements
        guard elements.count == 1, case .complex(let type) = schemas[elements[0].type] else { return elements }
        return type.children
    }

    /// The path to one object of a type in an operation's reply.
    func single(_ operation: WSDLOperation, _ type: TypeID) -> [String]? {
        guard case .complex = schemas[type] else { return nil }
        var level = operation.output.elements.map { ([$0.name.local], $0) }
        for _ in 0..<4 {
            if let found = level.first(where: { $0.1.type == type && !$0.1.isRepeated }) { return found.0 }
            level = level.flatMap { path, element -> [([String], SchemaElement)] in
                guard !element.isRepeated, case .complex(let type) = schemas[element.type] else { return [] }
                return type.children.map { (path + [$0.name.local], $0) }
            }
        }
        return nil
    }

    /// The operations that change the entity's objects, by their verbs and what they take.
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

    /// The operations of a verb that are about the entity, those named after it first.
    private func operations(_ verb: OperationVerb, _ offer: ServiceOffer, _ best: Candidate) -> [WSDLOperation] {
        let subjects = subjects(of: offer.name, best)
        let found = port.operations.enumerated().compactMap { index, operation -> (rank: [Int], WSDLOperation)? in
            let (own, word, subject) = OperationVerb.split(operation.name)
            guard operation.problem == nil, own == verb else { return nil }
            let isNamed = isSame(subject.joined(), subjects)
            guard isNamed || (verb != .deletes && object(of: operation, best) != nil) else { return nil }
            return ([isNamed ? 0 : 1, OperationVerb.rank(word), index], operation)
        }
        return found.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.map(\.1)
    }

    /// The argument that takes a whole object.
    private func object(of operation: WSDLOperation, _ best: Candidate) -> SchemaElement? {
        guard case .complex = schemas[best.record.type] else { return nil }
        return arguments(of: operation).first { $0.type == best.record.type && !$0.isRepeated }
    }

    /// What the section says of an operation; nil where it does not fit.
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

    /// The argument that takes the key: by its name, or the only one there is.
    func keyArgument(
        of operation: WSDLOperation, _ offer: ServiceOffer, _ best: Candidate, takesAny: Bool
    ) -> SchemaElement? {
        guard let key = offer.key else { return nil }
        let type = offer.fields.first { $0.path == [key] }?.type
        // What takes several keys takes one.
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

    /// Where the reply to a create has the new key, and no object.
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

    /// The operation that reads one object by its key.
    func readOne(of offer: ServiceOffer, _ best: Candidate) -> ServiceOffer.ReadOne? {
        guard let key = offer.key, key.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_@".contains($0)) })
        else { return nil }
        for operation in port.operations where operation.problem == nil && operation.name != best.operation.name {
            guard [.reads, nil].contains(OperationVerb.split(operation.name).verb),
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
}
