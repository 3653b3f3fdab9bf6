/// Turns what is known of records into attributes and relationships.
struct RecordMapper {
    /// An entity that others may refer to.
    struct Target: Sendable {
        var name: String
        /// The names of the schemas whose objects it holds.
        var schemas: Set<String>
        var key: [[String]]
        var keyType: String
        var isUsable: Bool
        /// Of a sample: the keys that were seen, and the members of its records.
        var keyValues: Set<String> = []
        var members: Set<String> = []
    }

    let targets: [Target]

    private static let mostFlattened = 10

    /// Adds the fields and relationships of `item` to `offer`.
    func map(_ item: Shape, into offer: inout EntityOffer) {
        for key in offer.key where key.count > 1 {
            let isWrapped = ["attributes", "properties", "_source"].contains(key[0])
            if let shape = item[key] { add(shape, key, as: isWrapped ? key.last : nil, to: &offer) }
        }
        for (name, shape) in item.properties {
            if name.isEmpty {
                offer.notes.append("left out: a member whose name is empty")
                continue
            }
            // JSON:API keeps the attributes in an object of their own; so do features of maps and hits of searches.
            let isWrapper =
                switch name {
                case "attributes": item["type"] != nil && item["id"] != nil || item["geometry"] != nil
                case "properties": item["geometry"] != nil
                case "_source": item["_id"] != nil
                default: false
                }
            if isWrapper, shape.isObject || !shape.properties.isEmpty {
                for (inner, shape) in shape.properties where !inner.isEmpty {
                    map(shape, [name, inner], as: inner, isNested: false, into: &offer)
                }
            } else {
                map(shape, [name], as: nil, isNested: false, into: &offer)
            }
        }
    }

    private func map(_ shape: Shape, _ path: [String], as name: String?, isNested: Bool, into offer: inout EntityOffer)
    {
        guard !shape.isWriteOnly, let last = path.last else { return }
        if offer.key.contains(path) { return add(shape, path, as: name, to: &offer) }
        if shape.isArray || (shape.kinds.isEmpty && shape.element != nil) {
            if let element = shape.element, let target = target(of: element, named: last) {
                offer.relationships.append(
                    EntityOffer.Relationship(
                        name: name ?? last, target: target.name, isToMany: true, path: path,
                        confidence: confidence(element, target, "a list of")))
                return
            }
            let named = targets.first { Words.match($0.name, last) }
            if let element = shape.element, let (target, why) = bare(last, element) ?? keyed(element, named) {
                offer.relationships.append(
                    EntityOffer.Relationship(
                        name: name ?? last, target: target.name, isToMany: true, path: path,
                        confidence: .medium("named like \(target.name), \(why)")))
                return
            }
            return add(shape, path, as: name, to: &offer)
        }
        if shape.isObject || !shape.properties.isEmpty {
            if let target = target(of: shape, named: last) {
                offer.relationships.append(
                    EntityOffer.Relationship(
                        name: name ?? last, target: target.name, isToMany: false, path: path,
                        confidence: confidence(shape, target, "an object of")))
                return
            }
            let isSmall =
                !shape.properties.isEmpty && shape.properties.count <= Self.mostFlattened
                && shape.solid.isSubset(of: [.object]) && shape.properties.allSatisfy { $0.shape.isScalar }
            if isSmall, !isNested {
                for (inner, shape) in shape.properties where !inner.isEmpty {
                    map(shape, path + [inner], as: nil, isNested: true, into: &offer)
                }
                return
            }
            return add(shape, path, as: name, to: &offer)
        }
        if !isNested, let (stem, target) = reference(last, shape, in: offer) {
            // The parent of a walk, and the record's own word of it.
            if let index = offer.relationships.firstIndex(where: {
                $0.name == offer.parent && $0.target == target.name && $0.path == [$0.name]
            }) {
                offer.relationships[index].path = path
                return
            }
            offer.relationships.append(
                EntityOffer.Relationship(
                    name: stem, target: target.name, isToMany: false, path: path,
                    confidence: .medium("named like the key of \(target.name)")))
            return
        }
        // A plural would count them.
        let named = targets.first { target in
            Words.plain(target.name) == Words.plain(last) && target.name != offer.name
                && !Self.numbers.contains(last.lowercased())
        }
        if !isNested, let (target, why) = bare(last, shape) ?? keyed(shape, named) {
            offer.relationships.append(
                EntityOffer.Relationship(
                    name: name ?? last, target: target.name, isToMany: false, path: path,
                    confidence: .medium("named like \(target.name), \(why)")))
            return
        }
        add(shape, path, as: name, to: &offer)
    }

    /// `post`, where there is an entity Post in the sample and some of its keys are the values here.
    private func bare(_ name: String, _ shape: Shape) -> (target: Target, why: String)? {
        guard shape.isScalar, !Self.numbers.contains(name.lowercased()), let seen = shape.seen?.scalars, !seen.isEmpty
        else { return nil }
        let target = targets.first { target in
            target.isUsable && target.key.count == 1 && Words.match(target.name, name)
                && FieldGuess.make(shape, name: name).type == target.keyType
                && !target.keyValues.isDisjoint(with: seen)
        }
        return target.map { ($0, "with keys of some in the sample") }
    }

    /// The same in a document, which has no values: numbers and UUIDs, as a text may be anything.
    private func keyed(_ shape: Shape, _ target: Target?) -> (target: Target, why: String)? {
        guard shape.seen == nil, let target, target.isUsable, target.key.count == 1, shape.isScalar else { return nil }
        let type = FieldGuess.make(shape, name: "").type
        guard ["integer", "uuid"].contains(type), type == target.keyType else { return nil }
        return (target, "with values of its key's type")
    }

    private func add(_ shape: Shape, _ path: [String], as name: String?, to offer: inout EntityOffer) {
        guard !offer.fields.contains(where: { $0.path == path }) else { return }
        var guess = FieldGuess.make(shape, name: path.last ?? "")
        if offer.key.contains(path), guess.type == "json" || guess.type == "real" { guess.type = "text" }
        // An empty key is no key: it goes to quarantine as it is.
        if offer.key.contains(path) { guess.transform = nil }
        offer.fields.append(
            EntityOffer.Field(
                path: path, type: guess.type, localName: name, transform: guess.transform, confidence: guess.confidence)
        )
    }

    /// The entity whose objects these are: by the name of their schema, or else by the member's name and their key.
    private func target(of shape: Shape, named name: String) -> Target? {
        guard shape.solid.isSubset(of: [.object]) else { return nil }
        func hasKey(_ target: Target) -> Bool { target.key.allSatisfy { shape[$0] != nil } }
        if let schema = shape.name, let found = targets.first(where: { $0.isUsable && $0.schemas.contains(schema) }) {
            // A schema within itself is cut off, and has no properties here.
            return shape.properties.isEmpty || hasKey(found) ? found : nil
        }
        guard !shape.properties.isEmpty else { return nil }
        // A group of rules may be called a rule, too: what shares hardly more than the key is another thing.
        func isAlike(_ target: Target) -> Bool {
            target.members.isEmpty
                || shape.properties.filter { target.members.contains($0.name) }.count * 2 > shape.properties.count
        }
        return targets.first { $0.isUsable && Words.match($0.name, name) && hasKey($0) && isAlike($0) }
    }

    private func confidence(_ shape: Shape, _ target: Target, _ what: String) -> Confidence {
        shape.name.map { target.schemas.contains($0) } == true
            ? .high("\(what) \(target.name)") : .medium("\(what) something named like \(target.name), with its key")
    }

    /// Names that say a place or a number as often as a thing.
    private static let numbers: Set<String> = [
        "order", "position", "index", "level", "number", "count", "version", "size", "page", "rank", "score", "year",
    ]

    /// `owner_id`, where there is an entity Owner.
    private func reference(_ name: String, _ shape: Shape, in offer: EntityOffer) -> (stem: String, target: Target)? {
        let words = Words.split(name)
        guard words.count > 1, ["id", "uuid"].contains(words.last?.lowercased() ?? ""), shape.isScalar else {
            return nil
        }
        let stem = words.dropLast().joined()
        guard let target = targets.first(where: { $0.isUsable && Words.match($0.name, stem) }), target.key.count == 1,
            FieldGuess.make(shape, name: name).type == target.keyType
        else { return nil }
        let ending = words.last?.count ?? 2
        let local = String(name.dropLast(ending)).trimmingEnd("_-. ")
        return (local, target)
    }
}

extension String {
    fileprivate func trimmingEnd(_ characters: String) -> String {
        var text = self
        while let last = text.last, characters.contains(last) { text.removeLast() }
        return text
    }
}
