internal import BridgeKit
internal import Inference
internal import RecordBatch

/// Guesses the entities of a service: which operations list, get, create, update and delete what.
struct ServiceReader {
    let port: WSDLPort
    let schemas: SchemaSet
    /// Results needed for several types, by the operation's name.
    private let splits: [String: OperationVerb.Split]
    private let singles: [String: [TypeID: [String]]]
    private let index: OperationIndex

    private static let maxListedObjects = 100
    private static let maxDerivedFields = 200

    init(_ port: WSDLPort, _ schemas: SchemaSet) {
        self.port = port
        self.schemas = schemas
        var splits: [String: OperationVerb.Split] = [:]
        var singles: [String: [TypeID: [String]]] = [:]
        for operation in port.operations {
            splits[operation.name] = OperationVerb.split(operation.name)
            singles[operation.name] = Self.singles(operation, schemas)
        }
        self.splits = splits
        self.singles = singles
        index = OperationIndex(port, schemas, splits, singles)
    }

    /// Returns the operations that may concern an entity, in their order: those named after it, those that take a whole
    /// object, and those that reply with one.
    func related(
        to type: TypeID, _ subjects: [String], singulars: [String]
    ) -> [(offset: Int, operation: WSDLOperation)] {
        index.places(of: type, subjects, singulars: singulars).map { ($0, port.operations[$0]) }
    }

    /// Returns the words of an operation's name.
    func split(_ operation: WSDLOperation) -> OperationVerb.Split {
        splits[operation.name] ?? OperationVerb.split(operation.name)
    }

    /// Returns the path to one object of a type in an operation's reply.
    func single(_ operation: WSDLOperation, _ type: TypeID) -> [String]? { singles[operation.name]?[type] }

    /// An operation whose reply has records.
    struct Candidate {
        let operation: WSDLOperation
        let path: [String]
        let record: SchemaElement
        let type: ComplexType
        var missing: [String]
        var paging: OperationPaging
        /// The types of the elements that contain the records.
        var through: Set<TypeID>
        /// The operation's name in words.
        var split: OperationVerb.Split
        /// Whether the request takes optional arguments besides paging, and so may return only part of the records.
        var takesConditions = false

        var verb: OperationVerb? { split.verb }
        /// Whether its name does not suggest a change.
        var isHarmless: Bool { [.reads, nil].contains(verb) }
    }

    /// Returns the entities, one for each type of record; of several operations that list it, the best ranked one.
    ///
    /// Operations that reply with one object are offered after the lists if they only read.
    func offers() -> [ServiceOffer] {
        var offers: [ServiceOffer] = []
        let groups = listings()
        for group in groups {
            offers.append(offer(group[0], others: Array(group.dropFirst()), "returns a list of these"))
        }
        for operation in readable where listCandidate(operation) == nil {
            guard let candidate = textCandidate(operation), candidate.isHarmless else { continue }
            offers.append(texts(candidate))
        }
        offers += objects(Set(groups.map { $0[0].record.type }), Set(offers.map(\.operation)))
        nameApart(&offers)
        relate(&offers)
        adopt(&offers)
        return offers
    }

    private var readable: [WSDLOperation] { port.operations.filter { $0.problem == nil && !$0.isOneWay } }

    // MARK: Listings

    /// Returns the operations that list, grouped by type of record, the best of each first.
    private func listings() -> [[Candidate]] {
        var groups: [[Candidate]] = []
        var places: [TypeID: Int] = [:]
        for operation in readable {
            guard let candidate = listCandidate(operation) else { continue }
            if let place = places[candidate.record.type] {
                groups[place].append(candidate)
            } else {
                places[candidate.record.type] = groups.count
                groups.append([candidate])
            }
        }
        // An operation that reads one object of another entity does not list that object's contents.
        for index in groups.indices {
            let own = groups[index][0].record.type
            groups[index].removeAll { $0.through.contains { $0 != own && places[$0] != nil } }
        }
        return groups.filter { !$0.isEmpty }.map(ranked)
    }

    private func ranked(_ candidates: [Candidate]) -> [Candidate] {
        func rank(_ candidate: Candidate) -> [Int] {
            [
                candidate.isHarmless ? 0 : 1, candidate.missing.count, candidate.split.words.contains("by") ? 1 : 0,
                candidate.takesConditions && candidate.paging.rule == nil ? 1 : 0,
                candidate.paging.rule == nil ? 1 : 0, OperationVerb.rank(candidate.split.word),
            ]
        }
        return candidates.enumerated().map { (rank($1) + [$0], $1) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
            .map(\.1)
    }

    /// Returns the entities of operations that reply with one object of a type that no operation lists.
    private func objects(_ listed: Set<TypeID>, _ taken: Set<String>) -> [ServiceOffer] {
        var groups: [[Candidate]] = []
        for operation in readable where !taken.contains(operation.name) {
            guard let candidate = objectCandidate(operation), candidate.isHarmless,
                listCandidate(operation) == nil, textCandidate(operation) == nil,
                !listed.contains(candidate.record.type),
                singles[operation.name]?.keys.contains(where: listed.contains) != true
            else { continue }
            if let index = groups.firstIndex(where: { $0[0].record.type == candidate.record.type }) {
                groups[index].append(candidate)
            } else if groups.count < Self.maxListedObjects {
                groups.append([candidate])
            }
        }
        return groups.map { group in
            let group = ranked(group)
            return offer(group[0], others: Array(group.dropFirst()), "returns one object")
        }
    }

    // MARK: An offer

    private func offer(_ best: Candidate, others: [Candidate], _ reply: String) -> ServiceOffer {
        var offer = ServiceOffer(name: name(of: best), type: best.record.type)
        take(best, into: &offer, reply)
        addFields(of: best, to: &offer)
        let listed = others.filter(\.isHarmless).map(\.operation.name)
        if !listed.isEmpty { offer.notes.append("also returned by \(listed.prefix(5).joined(separator: ", "))") }
        key(&offer, best)
        addDerivedFields(of: best, to: &offer)
        offer.write = roles(of: offer, best)
        addLacking(to: &offer, best)
        // The configuration accepts read_one only for entities with writes.
        if let one = readOne(of: offer, best) {
            if offer.write.isEmpty {
                offer.notes.append("\(one.operation) returns one object, by its key")
            } else {
                offer.readOne = one
            }
        }
        return offer
    }

    /// Returns an entity of plain values, whose key is the value itself.
    private func texts(_ candidate: Candidate) -> ServiceOffer {
        var words = candidate.split.subject
        if words.isEmpty { words = NameWords.lower(candidate.record.name.local) }
        if let last = words.popLast() { words.append(NameWords.singular(last)) }
        var offer = ServiceOffer(name: Self.capitalized(words), type: candidate.record.type)
        take(candidate, into: &offer, "returns a list of values")
        var type = "text"
        if case .simple(let kind) = schemas[candidate.record.type] {
            type = Self.type(of: kind, schemas.detail(candidate.record.type).builtIn)
        }
        var field = ServiceOffer.Field(path: ["#text"], type: type)
        field.localName = "value"
        offer.fields = [field]
        offer.key = "#text"
        offer.keyConfidence = .high("there is nothing else")
        return offer
    }

    private func take(_ best: Candidate, into offer: inout ServiceOffer, _ reply: String) {
        offer.operation = best.operation.name
        offer.records = best.path
        offer.paging = best.paging.rule
        offer.pagingReason = best.paging.reason
        offer.confidence = EntityDescription.Confidence(
            best.verb == .reads ? .high : .medium, "\(best.operation.name) \(reply)")
        if !best.isHarmless {
            offer.obstacles.append("by its name \(best.operation.name) changes something: make sure that it only reads")
        }
        offer.missing = best.missing
    }

    /// Returns the name of the record's type; for an anonymous type, that of its element, which is often the reply's
    /// wrapper.
    private func name(of best: Candidate) -> String {
        var name = schemas.namesOfTypes[best.record.type].map { NameWords.withoutTypeMarks($0.local) }
        if name == nil, best.path.count == 1 {
            let subject = best.split.subject
            name = subject.isEmpty ? best.operation.name : Self.capitalized(subject)
        }
        // Generated types are named after the path to them: ListItemsResponseitemsitem.
        let element = best.record.name.local
        if let made = name?.lowercased(), made.contains("response"), made.hasSuffix(element.lowercased()) {
            name = element
        }
        let wanted = name ?? element
        return wanted.prefix(1).uppercased() + wanted.dropFirst()
    }

    private static func capitalized(_ words: [String]) -> String {
        words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// Gives types their whole names if those differ only in what ``NameWords/withoutEnding(_:)`` removes.
    private func nameApart(_ offers: inout [ServiceOffer]) {
        let counts = Dictionary(offers.map { ($0.name, 1) }, uniquingKeysWith: +)
        for index in offers.indices where counts[offers[index].name, default: 0] > 1 {
            guard let type = schemas.namesOfTypes[offers[index].type]?.local, !type.hasPrefix("ArrayOf"),
                !QName(schemas.namesOfTypes[offers[index].type]?.namespace ?? "", type).isBuiltIn
            else { continue }
            offers[index].name = type.prefix(1).uppercased() + type.dropFirst()
        }
    }

    // MARK: Fields

    private func addFields(of best: Candidate, to offer: inout ServiceOffer) {
        for attribute in best.type.valueAttributes { offer.fields.append(field(attribute)) }
        if let text = best.type.text {
            var field = ServiceOffer.Field(path: ["#text"], type: Self.type(of: text, ""))
            field.localName = "value"
            offer.fields.append(field)
        }
        for (child, name) in zip(best.type.children, best.type.memberNames) {
            add(child, name, .high("in the schema"), to: &offer)
        }
    }

    /// Adds the additional fields of derived types; an xsi:type names the type of each object.
    private func addDerivedFields(of best: Candidate, to offer: inout ServiceOffer) {
        guard let base = schemas.namesOfTypes[best.record.type] else { return }
        let derived = schemas.concreteTypes(of: base)
        guard !derived.isEmpty else { return }
        var known = Set(best.type.memberNames + best.type.valueAttributes.map { "@" + $0.name })
        offer.fields.append(
            .init(path: ["@xsi:type"], type: "text", confidence: .high("\(base.local) has derived types")))
        var count = 0
        for name in derived {
            guard let id = schemas.typeNames[name], case .complex(let type) = schemas[id] else { continue }
            let confidence = EntityDescription.Confidence.high("of the derived type \(name.local)")
            for attribute in type.valueAttributes where known.insert("@" + attribute.name).inserted {
                var field = field(attribute)
                field.confidence = confidence
                offer.fields.append(field)
            }
            for (child, name) in zip(type.children, type.memberNames) where known.insert(name).inserted {
                count += 1
                if count <= Self.maxDerivedFields { add(child, name, confidence, to: &offer) }
            }
        }
    }

    private func field(_ attribute: SchemaAttribute) -> ServiceOffer.Field {
        ServiceOffer.Field(path: ["@" + attribute.name], type: Self.type(of: attribute.kind, ""))
    }

    private func add(
        _ child: SchemaElement, _ name: String, _ confidence: EntityDescription.Confidence, to offer: inout ServiceOffer
    ) {
        if let text = simple(child) {
            offer.fields.append(.init(path: [name], type: text, confidence: confidence))
        } else if !child.isRepeated, case .complex(let inner) = schemas[child.type], inner.children.count <= 8,
            !inner.children.isEmpty, inner.children.allSatisfy({ simple($0) != nil })
        {
            offer.nested.append(.init(name: name, element: child, inner: inner, confidence: confidence))
        } else {
            offer.nested.append(.init(name: name, element: child, inner: nil, confidence: confidence))
        }
    }

    /// Returns the type of an element that is a plain value; nil for others.
    func simple(_ element: SchemaElement) -> String? {
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
        // The largest values exceed the 64 bits of an integer column.
        case .integer: builtIn == "unsignedLong" ? "decimal" : "integer"
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
}
