internal import Inference

/// The shapes of replies: a list of records, a list of texts, or one object.
extension ServiceReader {
    /// Common last words in the names of wrappers.
    private static let envelopes = [
        "response", "result", "results", "return", "reply", "output", "out", "page", "list", "array", "collection",
        "set", "container", "wrapper", "envelope", "data", "message", "msg", "rs", "rsp", "resp",
    ]

    /// Returns the records of the first list of elements with members.
    func listCandidate(_ operation: WSDLOperation) -> Candidate? {
        var level = operation.output.elements.map { ([$0.name.local], $0, Set<TypeID>()) }
        var seen: Set<TypeID> = []
        for _ in 0..<6 {
            var next: [([String], SchemaElement, Set<TypeID>)] = []
            for (path, element, through) in level {
                guard case .complex(let type) = schemas[element.type] else { continue }
                if element.isRepeated, !type.children.isEmpty || !type.attributes.isEmpty, path.count > 1 {
                    // A list inside an object of the same type belongs to that object, such as its history.
                    if through.contains(element.type) { continue }
                    return candidate(operation, path, element, through)
                }
                guard seen.insert(element.type).inserted, path.count == 1 || !looksLikeObject(element, type) else {
                    continue
                }
                next += type.children.map { (path + [$0.name.local], $0, through.union([element.type])) }
            }
            level = next
        }
        return nil
    }

    /// Returns the list of plain values that is the only content of a reply.
    func textCandidate(_ operation: WSDLOperation) -> Candidate? {
        guard operation.output.elements.count == 1 else { return nil }
        var element = operation.output.elements[0]
        var path = [element.name.local]
        for _ in 0..<5 {
            guard case .complex(let type) = schemas[element.type], type.children.count == 1 else { return nil }
            element = type.children[0]
            path.append(element.name.local)
            guard element.isRepeated else { continue }
            guard case .simple = schemas[element.type] else { return nil }
            return candidate(operation, path, element, [])
        }
        return nil
    }

    /// Returns the only object of a reply, below elements that hold nothing else.
    func objectCandidate(_ operation: WSDLOperation) -> Candidate? {
        guard var element = operation.output.elements.first else { return nil }
        var path = [element.name.local]
        for _ in 0..<5 {
            guard case .complex(let type) = schemas[element.type], !element.isRepeated else { return nil }
            if type.children.count == 1, !type.children[0].isRepeated,
                case .complex(let inner) = schemas[type.children[0].type], !inner.isArray,
                !inner.children.isEmpty || !inner.attributes.isEmpty
            {
                element = type.children[0]
                path.append(element.name.local)
                continue
            }
            let hasValue = type.children.contains { simple($0) != nil } || !type.attributes.isEmpty
            let hasObject = type.children.contains { child in
                if case .complex = schemas[child.type] { return true }
                return false
            }
            guard hasValue || hasObject, !type.isArray else { return nil }
            return candidate(operation, path, element, [])
        }
        return nil
    }

    private func candidate(
        _ operation: WSDLOperation, _ path: [String], _ record: SchemaElement, _ through: Set<TypeID>
    ) -> Candidate {
        let paging = OperationPaging(operation, path, schemas)
        let missing =
            (try? EnvelopeWriter.write(
                operation, version: port.version, input: .object([]), schemas: schemas
            ).missing) ?? []
        var open = missing.filter { place in !paging.elements.contains { place.hasSuffix("/" + $0) } }
        // A bare message with one plain value.
        for element in operation.input.elements where element.isRequired {
            if case .simple = schemas[element.type], !paging.elements.contains(element.name.local),
                !open.contains(where: { $0.hasSuffix(element.name.local) })
            {
                open.append(element.name.local)
            }
        }
        var type = ComplexType()
        if case .complex(let known) = schemas[record.type] { type = known }
        let takesConditions = arguments(of: operation).contains { !paging.elements.contains($0.name.local) }
        return Candidate(
            operation: operation, path: path, record: record, type: type, missing: open, paging: paging,
            through: through, split: split(operation), takesConditions: takesConditions)
    }

    /// Returns whether an element is an object whose lists are its parts, because it has an id of its own, rather than
    /// a wrapper.
    private func looksLikeObject(_ element: SchemaElement, _ type: ComplexType) -> Bool {
        guard !element.isRepeated, let name = schemas.namesOfTypes[element.type]?.local else { return false }
        let last = NameWords.lower(name).last ?? ""
        guard !Self.envelopes.contains(last) else { return false }
        let entity = NameWords.plain(NameWords.withoutTypeMarks(name))
        let ids = ["id", "uuid", "guid", entity + "id"]
        return type.children.contains { simple($0) != nil && ids.contains(NameWords.plain($0.name.local)) }
    }
}
