internal import BridgeKit

/// Resolves schema documents into a ``SchemaSet``.
///
/// Types are built from a work list, so that recursive types and long chains of types need no stack; heads of
/// substitution groups are followed in a loop. Only bases and groups recurse, limited by ``Limits/nesting``. Invalid
/// definitions are read as far as possible and noted.
struct SchemaReader {
    enum Limits {
        static let nesting = 64
        static let childrenPerType = 20_000
        static let attributesPerType = 2_000
        /// Includes attributes.
        static let childrenInAll = 2_000_000
        /// Top-level definitions; a schema included in several namespaces counts in each.
        static let definitions = 500_000
        /// The members of a substitution group; further ones are ignored.
        static let substitutes = 2_000
        /// Thirty levels of groups that each contain the next one twice would take practically forever.
        static let visits = 1_000_000
        static let notes = 20
    }

    /// A definition, its schema, and the definition it redefines (XSD part 1, section 4.2.2).
    struct Declaration {
        let node: XMLElement
        let schema: Int
        var redefined: QName?
    }

    struct Schema {
        let targetNamespace: String
        let isElementQualified: Bool
        let isAttributeQualified: Bool
        let isChameleon: Bool
    }

    /// The kinds of top-level definitions, named after their elements; simple and complex types share their names.
    enum Kind: String {
        case type, element, attribute, group, attributeGroup
    }

    var set = SchemaSet()
    var schemas: [Schema] = []
    private(set) var notes: [String] = []
    private var globals: [Kind: [QName: Declaration]] = [:]
    /// The definitions replaced by a redefinition.
    private var originals: [Kind: [QName: Declaration]] = [:]
    /// The namespaces that define a local name, for references with a wrong namespace.
    private var namespacesOfNames: [Kind: [String: [String]]] = [:]
    /// The elements that may directly substitute another.
    private var substitutes: [QName: [QName]] = [:]
    private var work: [(id: TypeID, name: QName?, declaration: Declaration)] = []
    private var built: [QName: SchemaType] = [:]
    var simpleDetails: [QName: SimpleDetail] = [:]
    private var elementIDs: [QName: SchemaElement] = [:]
    private var noted: Set<String> = []
    var childCount = 0
    private var visits = 0

    /// Resolves documents.
    ///
    /// - Returns: The schemas, and one sentence for each oddity.
    /// - Throws: ``BridgeError`` limit for schemas that contain themselves or define too much.
    static func read(
        _ documents: [DocumentCollector.SchemaDocument]
    ) throws -> (schemas: SchemaSet, notes: [String]) {
        var reader = SchemaReader()
        try reader.resolve(documents)
        return (reader.set, reader.notes)
    }

    private mutating func resolve(_ documents: [DocumentCollector.SchemaDocument]) throws {
        var definitions = 0
        for document in documents {
            definitions += document.root.children.count
            guard definitions <= Limits.definitions else {
                throw BridgeError(.limit, "the schemas have more than \(Limits.definitions) definitions in all")
            }
            index(document)
        }
        for kind in globals.keys {
            for name in globals[kind, default: [:]].keys {
                namespacesOfNames[kind, default: [:]][name.local, default: []].append(name.namespace)
            }
        }
        for (name, declaration) in globals[.element, default: [:]] {
            if let head = qualifiedName("substitutionGroup", declaration) {
                substitutes[resolved(head, .element) ?? head, default: []].append(name)
            }
        }
        for head in substitutes.keys { substitutes[head]?.sort() }
        // In order, so that every run notes the same oddities.
        for name in globals[.type, default: [:]].keys.sorted() { _ = try type(named: name) }
        for name in globals[.element, default: [:]].keys.sorted() {
            if let element = try globalElement(name) { set.elements[name] = element }
        }
        for (name, declaration) in globals[.attribute, default: [:]] {
            set.attributes[name] = try attribute(declaration, isGlobal: true, nesting: 0)
        }
        try drain()
    }

    private mutating func index(_ document: DocumentCollector.SchemaDocument) {
        let root = document.root
        let schema = schemas.count
        schemas.append(
            Schema(
                targetNamespace: document.targetNamespace,
                isElementQualified: root["elementFormDefault"] == "qualified",
                isAttributeQualified: root["attributeFormDefault"] == "qualified", isChameleon: document.isChameleon))
        func add(_ node: XMLElement, isRedefinition: Bool) {
            guard let kind = Self.kind(of: node), let name = node["name"]?.trimmingWhiteSpace else { return }
            let key = QName(document.targetNamespace, name)
            let declaration = Declaration(node: node, schema: schema, redefined: isRedefinition ? key : nil)
            if isRedefinition {
                if let known = globals[kind]?[key] { originals[kind, default: [:]][key] = known }
                globals[kind, default: [:]][key] = declaration
            } else if globals[kind]?[key]?.redefined != nil {
                originals[kind, default: [:]][key] = declaration
            } else if globals[kind]?[key] == nil {
                // The first definition wins, because schemas are often supplied twice.
                globals[kind, default: [:]][key] = declaration
            }
        }
        for node in root.children where node.name.namespace == Namespace.schema {
            if node.name.local == "redefine" {
                for inner in node.children { add(inner, isRedefinition: true) }
            } else {
                add(node, isRedefinition: false)
            }
        }
    }

    private static func kind(of node: XMLElement) -> Kind? {
        guard node.name.namespace == Namespace.schema else { return nil }
        return node.name.local == "complexType" || node.name.local == "simpleType"
            ? .type : Kind(rawValue: node.name.local)
    }

    private mutating func drain() throws {
        while let item = work.popLast() {
            if let name = item.name {
                set[item.id] = try named(name, nesting: 0)
                set.details[item.id] = simpleDetails[name]
            } else {
                var detail = SimpleDetail()
                set[item.id] = try build(item.declaration, nesting: 0, detail: &detail)
                if case .simple = set[item.id] { set.details[item.id] = detail }
            }
        }
    }

    // MARK: Names

    /// Returns the qualified name in an attribute, corrected as its author probably intended.
    func qualifiedName(_ attribute: String, _ declaration: Declaration) -> QName? {
        qualifiedName(attribute, of: declaration.node, declaration.schema)
    }

    func qualifiedName(_ attribute: String, of node: XMLElement, _ schema: Int) -> QName? {
        guard let text = node[attribute]?.trimmingWhiteSpace, !text.isEmpty else { return nil }
        // The prefix is undeclared: the local name may still match.
        guard var name = node.qualifiedName(attribute) else {
            return QName("", text.split(separator: ":").last.map { $0.trimmingWhiteSpace } ?? text)
        }
        if name.namespace.isEmpty, schemas[schema].isChameleon, !text.contains(":") {
            name.namespace = schemas[schema].targetNamespace
        }
        return name
    }

    /// Returns a definition's name; in another namespace only if the local name is unique there.
    func resolved(_ name: QName, _ kind: Kind) -> QName? {
        if globals[kind]?[name] != nil { return name }
        guard !name.isBuiltIn, let namespaces = namespacesOfNames[kind]?[name.local], namespaces.count == 1
        else { return nil }
        return QName(namespaces[0], name.local)
    }

    /// Returns a definition by its name, or the one that a redefinition of that name replaces.
    mutating func definition(
        _ name: QName, _ kind: Kind, from user: Declaration
    ) -> (name: QName, declaration: Declaration)? {
        if user.redefined == name, let original = originals[kind]?[name] { return (name, original) }
        guard let found = resolved(name, kind), let declaration = globals[kind]?[found] else {
            if !name.isBuiltIn, !Namespace.wellKnown.contains(name.namespace) {
                note("no schema has the \(kind.rawValue) \(name): inferred from the data")
            }
            return nil
        }
        if found != name { note("there is no \(kind.rawValue) \(name): \(found) is used instead") }
        return (found, declaration)
    }

    mutating func note(_ text: String) {
        guard noted.count < 1000, noted.insert(text).inserted else { return }
        if notes.count < Limits.notes { notes.append(text) }
        if notes.count == Limits.notes, noted.count == Limits.notes + 1 {
            notes.append("and more such oddities of the schemas")
        }
    }

    mutating func type(named name: QName) throws -> TypeID {
        if let known = set.typeNames[name] { return known }
        guard let found = resolved(name, .type), let declaration = globals[.type]?[found] else {
            if let kind = SimpleKind(builtIn: name.local) {
                // `type="string"` without the prefix of XSD is common.
                if !name.isBuiltIn { note("no schema has the type \(name): xs:\(name.local) is used instead") }
                return set.addBuiltIn(name, kind)
            }
            if name.isBuiltIn, name.namespace == Namespace.schema { return set.anyType }
            if name.isBuiltIn, name.local == "Array", name.namespace != Namespace.schema {
                let id = set.add(.complex(anyArray))
                set.typeNames[name] = id
                return id
            }
            if !name.isBuiltIn, !Namespace.wellKnown.contains(name.namespace) {
                note("no schema has the type \(name): inferred from the data")
            }
            return set.anyType
        }
        if found != name { note("there is no type \(name): \(found) is used instead") }
        if let known = set.typeNames[found] { return known }
        let id = set.add(.any)
        set.typeNames[found] = id
        set.namesOfTypes[id] = found
        work.append((id, found, declaration))
        return id
    }

    /// Returns a global element; without a type of its own, it has the type of its substitution group's head (XSD part
    /// 1, section 3.3.2).
    ///
    /// Heads are followed in a loop, because a document may chain any number of them, also in a cycle.
    mutating func globalElement(_ name: QName) throws -> SchemaElement? {
        var untyped: [QName] = []
        var type = set.anyType
        var next: QName? = name
        while let current = next {
            if let known = elementIDs[current] {
                type = known.type
                break
            }
            guard let declaration = globals[.element]?[current] else { break }
            var element = SchemaElement(name: current, type: set.anyType)
            element.read(declaration.node)
            element.type = try typeOfElement(declaration)
            elementIDs[current] = element
            type = element.type
            next = type == set.anyType ? head(of: declaration) : nil
            if next != nil { untyped.append(current) }
        }
        for name in untyped { elementIDs[name]?.type = type }
        return elementIDs[name]
    }

    /// Returns the head from which an element takes its type; nil if it declares a type or has no head.
    private func head(of declaration: Declaration) -> QName? {
        guard declaration.node["type"] == nil else { return nil }
        return qualifiedName("substitutionGroup", declaration).flatMap { resolved($0, .element) }
    }

    /// Returns the elements that may substitute this one, beginning with itself.
    mutating func substitutionGroup(of name: QName) throws -> [SchemaElement] {
        var found: [SchemaElement] = []
        var seen: Set<QName> = []
        var waiting = [name]
        var index = 0
        while index < waiting.count, found.count < Limits.substitutes {
            let next = waiting[index]
            index += 1
            guard seen.insert(next).inserted else { continue }
            if let element = try globalElement(next) { found.append(element) }
            waiting += (substitutes[next] ?? []).prefix(Limits.substitutes)
        }
        return found
    }

    mutating func typeOfElement(_ declaration: Declaration) throws -> TypeID {
        if let name = qualifiedName("type", declaration) { return try type(named: name) }
        for child in declaration.node.children where Self.kind(of: child) == .type {
            let id = set.add(.any)
            work.append((id, nil, Declaration(node: child, schema: declaration.schema)))
            return id
        }
        return set.anyType
    }

    // MARK: Guards

    mutating func visit(_ nesting: Int) throws {
        visits += 1
        guard nesting < Limits.nesting, visits < Limits.visits else {
            throw BridgeError(.limit, "groups of the schemas contain each other, or too many of them do")
        }
    }

    /// Returns a named type's content, built only once, because a type that contains an extension of itself would not
    /// end.
    mutating func named(_ name: QName, nesting: Int) throws -> SchemaType {
        if let known = built[name] { return known }
        guard let declaration = globals[.type]?[name] else { return .any }
        var detail = SimpleDetail()
        let type = try build(declaration, nesting: nesting, detail: &detail)
        built[name] = type
        if case .simple = type { simpleDetails[name] = detail }
        if let base = baseName(declaration) { set.derivedTypes[base, default: []].append(name) }
        return type
    }

    private func baseName(_ declaration: Declaration) -> QName? {
        for content in declaration.node.children where content.name.local.hasSuffix("Content") {
            for step in content.children {
                guard let base = qualifiedName("base", of: step, declaration.schema) else { continue }
                return resolved(base, .type) ?? base
            }
        }
        return nil
    }
}

extension SchemaElement {
    /// Reads the properties of an element's declaration other than its name and type.
    mutating func read(_ node: XMLElement) {
        isNillable = SchemaReader.isTrue(node["nillable"])
        isAbstract = SchemaReader.isTrue(node["abstract"])
        value = node["fixed"] ?? node["default"]
        isFixed = node["fixed"] != nil
    }
}
