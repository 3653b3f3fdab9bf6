internal import BridgeContract
internal import BridgeJSON
internal import Inference

/// Maps the shape of records to attributes and relationships.
struct RecordMapper {
    /// An entity that records of other entities may refer to.
    struct Target: Sendable {
        var name: String
        /// The names of the schemas whose objects it contains.
        var schemas: Set<String>
        var key: [[String]]
        var keyType: String
        var isUsable: Bool
        /// The keys seen in the sample.
        var keyValues: Set<String> = []
        var members: Set<String> = []
        /// The `type` of its records in JSON:API.
        var types: Set<String> = []
        /// The shape of its records in the sample.
        var item: ValueShape?
    }

    let targets: [Target]
    /// The indices of the targets by their names in the singular, and by schema: a document may list thousands.
    private let named: [String: [Int]]
    private let ofSchema: [String: [Int]]
    /// The targets with a `type`, and those with a sample, which those of a document lack.
    private let withTypes: [Target]
    private let withItems: [Target]

    init(targets: [Target]) {
        self.targets = targets
        named = Dictionary(grouping: targets.indices) { Self.form(targets[$0].name) }
        var ofSchema: [String: [Int]] = [:]
        for (index, target) in targets.enumerated() {
            for schema in target.schemas { ofSchema[schema, default: []].append(index) }
        }
        self.ofSchema = ofSchema
        withTypes = targets.filter { !$0.types.isEmpty }
        withItems = targets.filter { $0.item != nil }
    }

    /// Returns the form in which two names are equal if `NameWords` takes them for the same.
    private static func form(_ name: String) -> String { NameWords.singular(NameWords.plain(name)) }

    /// Returns the targets of this name, in the singular or the plural.
    private func targets(named name: String) -> [Target] { (named[Self.form(name)] ?? []).map { targets[$0] } }

    private static let maxFlattened = 10
    /// The maximum number of columns that one member of a record becomes, at any depth.
    private static let maxLeaves = 20

    /// Adds the fields and relationships of `item` to `offer`.
    func map(_ item: ValueShape, into offer: inout EntityOffer) {
        for key in offer.key where key.count > 1 {
            let isWrapped = ["attributes", "properties", "_source"].contains(key[0])
            if let shape = item[key] { add(shape, key, as: isWrapped ? key.last : nil, to: &offer) }
        }
        for (name, shape) in item.properties {
            if name.isEmpty {
                offer.notes.append("left out: a member whose name is empty")
                continue
            }
            // JSON:API keeps the attributes in a separate object; so do map features and search hits.
            let isWrapper =
                switch name {
                case "attributes": item["type"] != nil && item["id"] != nil || item["geometry"] != nil
                case "properties": item["geometry"] != nil
                case "_source": item["_id"] != nil
                default: false
                }
            if name == "relationships", item["type"] != nil, item["id"] != nil, shape.isObject {
                for (inner, shape) in shape.properties where !inner.isEmpty { link(shape, named: inner, into: &offer) }
            } else if isWrapper, shape.isObject || !shape.properties.isEmpty {
                for (inner, shape) in shape.properties where !inner.isEmpty {
                    map(shape, [name, inner], as: inner, isNested: false, into: &offer)
                }
            } else {
                map(shape, [name], as: nil, isNested: false, into: &offer)
            }
        }
    }

    /// Adds a JSON:API relationship: `{data: {type, id}}`, or a list of those.
    private func link(_ shape: ValueShape, named name: String, into offer: inout EntityOffer) {
        let path = ["relationships", name, "data"]
        guard let data = shape["data"] else { return }
        let isToMany = data.isArray || data.kinds.isEmpty && data.element != nil
        let identifier = isToMany ? data.element ?? ValueShape() : data
        if let target = typed(identifier) ?? target(of: identifier, named: name) {
            offer.relationships.append(
                EntityOffer.Relationship(
                    name: name, target: target.name, isToMany: isToMany, path: path,
                    confidence: .high("its type is that of \(target.name)")))
        } else if !isToMany, let id = data["id"] {
            add(id, path + ["id"], as: name + "_id", to: &offer)
        } else {
            add(data, path, as: name, to: &offer)
        }
    }

    /// Returns the entity whose records have this `type`.
    private func typed(_ shape: ValueShape) -> Target? {
        guard let type = shape["type"], shape["id"] != nil else { return nil }
        let said = type.words
        guard said.count == 1, let word = said.first else { return nil }
        let found = withTypes.filter { $0.isUsable && $0.types.contains(word) }
        if found.count == 1 { return found.first }
        let isIdentifier = shape.properties.allSatisfy { ["type", "id", "meta", "links"].contains($0.name) }
        return isIdentifier ? targets(named: word).first { $0.isUsable && $0.types.isEmpty } : nil
    }

    /// Returns the entity that contains these objects with the same values, such as User for `assignee: {id, name}`.
    private func same(_ shape: ValueShape) -> Target? {
        let found = withItems.filter { target in
            guard target.isUsable, let item = target.item, target.key.count == 1, shape[target.key[0]] != nil,
                shape.properties.count > 1
            else { return false }
            return shape.properties.allSatisfy { name, shape in
                guard shape.isScalar, let seen = shape.seen?.scalars, let known = item[name]?.seen?.scalars else {
                    return false
                }
                return seen.isSubset(of: known)
            } && shape.properties.contains { !target.key.contains([$0.name]) && $0.shape.solid == [.string] }
        }
        return found.count == 1 ? found.first : nil
    }

    /// Returns the number of columns that an object would become.
    private func leaves(_ shape: ValueShape) -> Int {
        guard shape.isObject, !shape.properties.isEmpty else { return 1 }
        return shape.properties.reduce(0) { $0 + leaves($1.shape) }
    }

    private func map(
        _ shape: ValueShape, _ path: [String], as name: String?, isNested: Bool, into offer: inout EntityOffer
    ) {
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
            let named = targets(named: last).first
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
            if let target = same(shape) {
                offer.relationships.append(
                    EntityOffer.Relationship(
                        name: name ?? last, target: target.name, isToMany: false, path: path,
                        confidence: .medium("each of its objects was seen among those of \(target.name)")))
                return
            }
            let isSmall =
                !shape.properties.isEmpty && shape.properties.count <= Self.maxFlattened
                && shape.solid.isSubset(of: [.object]) && leaves(shape) <= Self.maxLeaves
            if isSmall {
                for (inner, shape) in shape.properties where !inner.isEmpty {
                    map(shape, path + [inner], as: nil, isNested: true, into: &offer)
                }
                return
            }
            return add(shape, path, as: name, to: &offer)
        }
        if !isNested, let (stem, target) = reference(last, shape, in: offer) {
            // The record itself refers to the parent whose listing contains it.
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
        // A plural name would be a count.
        let named = targets(named: last).first { target in
            NameWords.plain(target.name) == NameWords.plain(last) && target.name != offer.name
                && !Self.numbers.contains(last.lowercased())
        }
        if !isNested, let note = others(last, shape, in: offer) { offer.notes.append(note) }
        if !isNested, let (target, why) = bare(last, shape) ?? keyed(shape, named) {
            offer.relationships.append(
                EntityOffer.Relationship(
                    name: name ?? last, target: target.name, isToMany: false, path: path,
                    confidence: .medium("named like \(target.name), \(why)")))
            return
        }
        add(shape, path, as: name, to: &offer)
    }

    /// Returns a note on the possible target of a member such as `author_id` when no entity is named Author, by
    /// comparing its values with the keys seen.
    private func others(_ name: String, _ shape: ValueShape, in offer: EntityOffer) -> String? {
        let words = NameWords.split(name)
        guard words.count > 1, ["id", "uuid"].contains(words.last?.lowercased() ?? ""), shape.isScalar,
            let seen = shape.seen?.scalars, seen.count > 1
        else { return nil }
        let type = FieldGuess.make(shape, name: name).type
        let found = targets.filter {
            $0.isUsable && $0.key.count == 1 && $0.keyType == type && seen.isSubset(of: $0.keyValues)
        }
        guard found.count == 1, let target = found.first else { return nil }
        let local = String(name.dropLast(words.last?.count ?? 2)).trimmingEnd("_-. ")
        return "\(name) may refer to \(target.name), whose keys include all of its values: "
            + "relationships: {\(LocalName.make([local])): {to: \(target.name), from: \(name)}} in place of the attribute"
    }

    /// Returns the target of a member such as `post`: an entity Post in the sample that has some of these values as
    /// keys.
    private func bare(_ name: String, _ shape: ValueShape) -> (target: Target, why: String)? {
        guard shape.isScalar, !Self.numbers.contains(name.lowercased()), let seen = shape.seen?.scalars, !seen.isEmpty
        else { return nil }
        let target = targets(named: name).first { target in
            target.isUsable && target.key.count == 1
                && FieldGuess.make(shape, name: name).type == target.keyType
                && !target.keyValues.isDisjoint(with: seen)
        }
        return target.map { ($0, "with keys that occur in the sample") }
    }

    /// Returns the same for a document, which has no values: numbers and UUIDs only, since a text may be anything.
    private func keyed(_ shape: ValueShape, _ target: Target?) -> (target: Target, why: String)? {
        guard shape.seen == nil, let target, target.isUsable, target.key.count == 1, shape.isScalar else { return nil }
        let type = FieldGuess.make(shape, name: "").type
        guard ["integer", "uuid"].contains(type), type == target.keyType else { return nil }
        return (target, "with values of its key's type")
    }

    private func add(_ shape: ValueShape, _ path: [String], as name: String?, to offer: inout EntityOffer) {
        guard !offer.fields.contains(where: { $0.path == path }) else { return }
        var guess = FieldGuess.make(shape, name: path.last ?? "")
        if offer.key.contains(path), guess.type == "json" || guess.type == "real" { guess.type = "text" }
        // Keep an empty key as it is: the record goes to quarantine.
        if offer.key.contains(path) { guess.transform = nil }
        offer.fields.append(
            EntityOffer.Field(
                path: path, type: guess.type, localName: name, transform: guess.transform, confidence: guess.confidence)
        )
    }

    /// Returns the entity of these objects, by the schema's name, or else by the member's name and the entity's key.
    private func target(of shape: ValueShape, named name: String) -> Target? {
        guard shape.solid.isSubset(of: [.object]) else { return nil }
        if let typed = typed(shape) { return typed }
        func hasKey(_ target: Target) -> Bool { target.key.allSatisfy { shape[$0] != nil } }
        if let schema = shape.name, let found = ofSchema[schema]?.lazy.map({ targets[$0] }).first(where: \.isUsable) {
            // A recursive schema is cut off and has no properties here.
            return shape.properties.isEmpty || hasKey(found) ? found : nil
        }
        guard !shape.properties.isEmpty else { return nil }
        // `UserSummary` or `UserRef` holds some members of User under another name.
        if let schema = shape.name, let entity = Self.entity(ofBrief: schema),
            let found = targets(named: entity).first(where: {
                $0.isUsable && NameWords.plain($0.name) == entity && hasKey($0)
            })
        {
            return found
        }
        // A group of rules may be named rule, too: an object that shares little more than the key is a different thing.
        func isAlike(_ target: Target) -> Bool {
            target.members.isEmpty
                || shape.properties.filter { target.members.contains($0.name) }.count * 2 > shape.properties.count
        }
        return targets(named: name).first { $0.isUsable && hasKey($0) && isAlike($0) }
    }

    /// Returns the plain name of the entity that a schema abbreviates; nil if its name does not say so.
    private static func entity(ofBrief schema: String) -> String? {
        let marks = [
            "ref", "reference", "summary", "brief", "mini", "simple", "basic", "nested", "short", "compact", "link",
        ]
        let words = NameWords.lower(schema)
        let rest = words.filter { !marks.contains($0) }
        return rest.count < words.count ? NameWords.plain(rest.joined()) : nil
    }

    private func confidence(_ shape: ValueShape, _ target: Target, _ what: String) -> Confidence {
        shape.name.map { target.schemas.contains($0) } == true
            ? .high("\(what) \(target.name)") : .medium("\(what) something named like \(target.name), with its key")
    }

    /// Names that mean a position or a number as often as an entity.
    private static let numbers: Set<String> = [
        "order", "position", "index", "level", "number", "count", "version", "size", "page", "rank", "score", "year",
    ]

    /// Returns the target of a member such as `owner_id`: the entity Owner, if there is one.
    private func reference(_ name: String, _ shape: ValueShape, in offer: EntityOffer) -> (
        stem: String, target: Target
    )? {
        let words = NameWords.split(name)
        guard words.count > 1, ["id", "uuid"].contains(words.last?.lowercased() ?? ""), shape.isScalar else {
            return nil
        }
        let stem = words.dropLast().joined()
        guard let target = targets(named: stem).first(where: \.isUsable),
            target.key.count == 1,
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

extension ValueShape {
    /// The texts that the schema allows or the sample contains.
    fileprivate var words: Set<String> {
        Set(values).union(seen?.scalars.compactMap { $0.hasPrefix("\"") ? String($0.dropFirst()) : nil } ?? [])
    }
}
