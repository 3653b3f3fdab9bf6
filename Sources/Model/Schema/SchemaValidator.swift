/// Validates a part of a YAML document against a plugin's schema, and returns its value and all faults.
///
/// A plugin's schema is not trusted: the work is bounded, and endless recursion in a schema is a fault.
struct SchemaValidator {
    static let maxDepth = 200

    /// A fault without its message, so that the faults of alternatives at one place can be joined.
    struct Fault {
        enum Kind {
            case type(expected: [String], found: String)
            case choice(valid: [String], given: String?)
            /// A missing or unknown key.
            case key(message: String, remedy: String?)
            case other(message: String, remedy: String?)
        }

        var mark: YAMLMark
        /// The names and indexes from the part's root, as shown in a message.
        var path: String
        var kind: Kind
        /// Whether `{env: NAME}` or `{file: PATH}` is used for a text that cannot be a secret.
        var isReference = false
    }

    let document: SchemaDocument
    /// Whether any text may be `{env: NAME}` or `{file: PATH}`, or only those that the schema marks as secrets.
    let allowsSecretTexts: Bool
    /// The folder that relative paths are resolved against.
    let directory: String
    /// The remaining work budget: sufficient for any file, but not for a schema whose alternatives multiply.
    private var budget = 0
    private(set) var ranOut = false

    init(document: SchemaDocument, allowsSecretTexts: Bool, directory: String) {
        self.directory = directory
        self.document = document
        self.allowsSecretTexts = allowsSecretTexts
    }

    /// Validates `node`, the root of the part; returns its value and its faults.
    mutating func validate(_ node: YAMLNode) -> (value: ConfigValue, faults: [Fault]) {
        budget = 100_000 + 100 * node.count
        let place = SchemaLocation(mark: node.mark, path: "", depth: 0, allowsSecrets: allowsSecretTexts)
        return validate(node, document.root, place, lenient: true)
    }

    private struct SchemaLocation {
        /// The mark to report: the key before the value.
        var mark: YAMLMark
        var path: String
        var depth: Int
        /// Whether each text may be `{env: NAME}` or `{file: PATH}`.
        var allowsSecrets: Bool

        func member(_ name: String, _ mark: YAMLMark) -> SchemaLocation {
            SchemaLocation(
                mark: mark, path: path.isEmpty ? shortened(name) : "\(path).\(shortened(name))", depth: depth + 1,
                allowsSecrets: allowsSecrets)
        }

        func element(_ index: Int, _ mark: YAMLMark) -> SchemaLocation {
            SchemaLocation(
                mark: mark, path: "\(path)[\(index)]", depth: depth + 1, allowsSecrets: allowsSecrets)
        }
    }

    private typealias Outcome = (value: ConfigValue, faults: [Fault])

    /// Validates a node.
    ///
    /// If `lenient`, an unquoted number or Boolean is accepted as text; alternatives are tried strictly first.
    private mutating func validate(_ node: YAMLNode, _ schema: JSONSchema, _ place: SchemaLocation, lenient: Bool)
        -> Outcome
    {
        budget -= node.count + schema.required.count + (schema.choices?.count ?? 0)
        guard budget >= 0, place.depth <= Self.maxDepth else {
            ranOut = true
            return (.null, [])
        }
        if schema.isSecret { return secret(node, place) }
        var place = place
        if schema.allowsSecrets { place.allowsSecrets = true }
        guard schema.fitsAnything else {
            return (.null, [other(place, "is not allowed", "remove it")])
        }
        var outcome = own(node, schema, place, lenient: lenient)
        if schema.isPath, case .string(let text) = outcome.value, !text.isEmpty, !text.contains("://") {
            outcome.value = .string(FilePath.absolute(text, relativeTo: directory))
        }
        let plain = NaturalValue.exact(node)
        func combine(_ next: Outcome) {
            outcome.value = Self.combine(plain, outcome.value, next.value)
            outcome.faults += next.faults
        }
        var deeper = place
        deeper.depth += 1
        if let name = schema.reference, let definition = document.definitions[name] {
            combine(validate(node, definition, deeper, lenient: lenient))
        }
        if !schema.anyOf.isEmpty {
            combine(alternatives(node, schema.anyOf, deeper, lenient: lenient, exactlyOne: false))
        }
        if !schema.oneOf.isEmpty {
            combine(alternatives(node, schema.oneOf, deeper, lenient: lenient, exactlyOne: true))
        }
        return outcome
    }

    /// Combines two readings of a node: the second one counts where the first left the plain value unchanged.
    private static func combine(_ plain: ConfigValue, _ first: ConfigValue, _ second: ConfigValue) -> ConfigValue {
        if first == plain { return second }
        if case (.object(let plain), .object(let first), .object(let second)) = (plain, first, second),
            plain.count == first.count, first.count == second.count
        {
            return .object(
                plain.indices.map { (plain[$0].key, combine(plain[$0].value, first[$0].value, second[$0].value)) })
        }
        return first
    }

    private mutating func alternatives(
        _ node: YAMLNode, _ schemas: [JSONSchema], _ place: SchemaLocation, lenient: Bool, exactlyOne: Bool
    ) -> Outcome {
        for leniency in lenient ? [false, true] : [false] {
            var fitting: [Outcome] = []
            var failed: [Outcome] = []
            for schema in schemas {
                let outcome = validate(node, schema, place, lenient: leniency)
                if outcome.faults.isEmpty { fitting.append(outcome) } else { failed.append(outcome) }
            }
            if let first = fitting.first {
                guard exactlyOne, fitting.count > 1 else { return first }
                return (first.value, [other(place, "fits \(fitting.count) mutually exclusive alternatives", nil)])
            }
            if leniency == lenient {
                return (NaturalValue.exact(node), Self.nearestFaults(failed.map(\.faults), place.path))
            }
        }
        return (NaturalValue.exact(node), [])
    }

    /// Returns the faults of the nearest alternative; if all fail in the same way, one fault with all accepted values.
    private static func nearestFaults(_ branches: [[Fault]], _ path: String) -> [Fault] {
        if let joined = joinedTypes(branches, path) ?? joinedChoices(branches) { return [joined] }
        func weight(_ fault: Fault) -> Int {
            switch fault.kind {
            case .type where fault.path == path: 10_000
            case .choice: 100
            default: 1
            }
        }
        return branches.min { $0.reduce(0) { $0 + weight($1) } < $1.reduce(0) { $0 + weight($1) } } ?? []
    }

    private static func joinedTypes(_ branches: [[Fault]], _ path: String) -> Fault? {
        var result: Fault?
        var all: [String] = []
        for branch in branches {
            guard branch.count == 1, let fault = branch.first, fault.path == path,
                case .type(let expected, let found) = fault.kind
            else { return nil }
            all += expected.filter { !all.contains($0) }
            result = Fault(
                mark: fault.mark, path: path, kind: .type(expected: all, found: found), isReference: fault.isReference)
        }
        return result
    }

    private static func joinedChoices(_ branches: [[Fault]]) -> Fault? {
        func choices(_ faults: [Fault]) -> [(path: String, valid: [String], given: String?, mark: YAMLMark)] {
            faults.compactMap { fault in
                guard case .choice(let valid, let given) = fault.kind else { return nil }
                return (fault.path, valid, given, fault.mark)
            }
        }
        guard let first = branches.first.map(choices)?.first else { return nil }
        var all: [String] = []
        for branch in branches {
            guard let same = choices(branch).first(where: { $0.path == first.path }) else { return nil }
            all += same.valid.filter { !all.contains($0) }
        }
        return Fault(mark: first.mark, path: first.path, kind: .choice(valid: all, given: first.given))
    }
}

extension SchemaValidator {
    /// Validates a node against the schema itself, without its references and alternatives.
    private mutating func own(_ node: YAMLNode, _ schema: JSONSchema, _ place: SchemaLocation, lenient: Bool) -> Outcome
    {
        if place.allowsSecrets, let reference = SecretReference(node),
            schema.kinds.contains(.string) || (schema.kinds.isEmpty && schema.properties.isEmpty)
        {
            return (.secret(reference), [])
        }
        guard var value = typed(node, schema, lenient: lenient) else {
            let fault = Fault(
                mark: place.mark, path: place.path,
                kind: .type(expected: schema.kinds.map(\.words), found: node.kindInWords),
                isReference: schema.kinds.contains(.string) && SecretReference(node) != nil)
            return (NaturalValue.exact(node), [fault])
        }
        var faults: [Fault] = []
        switch node.content {
        case .mapping(let pairs):
            faults += members(pairs, schema, place, lenient: lenient, &value)
        case .sequence(let elements):
            if !schema.bounds.items.contains(elements.count) {
                faults.append(bound(place, "elements", elements.count, schema.bounds.items))
            }
            var values: [ConfigValue] = []
            for (index, element) in elements.enumerated() {
                if let items = schema.items {
                    let outcome = validate(element, items, place.element(index, element.mark), lenient: lenient)
                    values.append(outcome.value)
                    faults += outcome.faults
                } else {
                    values.append(undescribed(element, schema, place))
                }
            }
            value = .array(values)
        case .scalar(let text, let plain):
            faults += limits(value, schema.bounds, place)
            if let choices = schema.choices, !choices.contains(value) {
                if plain, lenient, schema.kinds.isEmpty, choices.contains(.string(text)) {
                    value = .string(text)
                } else {
                    faults.append(choice(choices, text, place))
                }
            }
        }
        if let choices = schema.choices, node.scalarText == nil, !choices.contains(value) {
            faults.append(choice(choices, nil, place))
        }
        return (value, faults)
    }

    private func choice(_ choices: [ConfigValue], _ given: String?, _ place: SchemaLocation) -> Fault {
        let valid = choices.map { $0.string ?? $0.json }
        // If the plugin has secrets, show only a typo: any other value may be a misplaced secret.
        let isSlip = given.map { nearest(to: $0, among: valid) != nil } ?? false
        return Fault(
            mark: place.mark, path: place.path,
            kind: .choice(valid: valid, given: document.hasSecrets && !isSlip ? nil : given))
    }

    /// Returns a node's value as one of the kinds of a schema; nil if it is none of them.
    ///
    /// Where a schema takes texts as well as numbers, the value may become a part of a text, so a number keeps the digits
    /// with which it is written.
    private func typed(_ node: YAMLNode, _ schema: JSONSchema, lenient: Bool) -> ConfigValue? {
        let kinds = schema.kinds
        // The numbers among a schema's choices are integers and doubles.
        let isChoice = schema.choices != nil
        let exact = isChoice ? NaturalValue.of(node) : NaturalValue.exact(node)
        guard !kinds.isEmpty else { return exact }
        let keepsDigits = kinds.contains(.number) && kinds.contains(.string) && !isChoice
        let plain = node.scalar ?? exact
        switch plain {
        case .null where kinds.contains(.null): return plain
        case .bool where kinds.contains(.boolean): return plain
        case .int where keepsDigits, .double where keepsDigits: return node.writtenScalar
        case .int where kinds.contains(.integer) || kinds.contains(.number): return plain
        case .double(let number) where kinds.contains(.number) && number.isFinite: return plain
        case .double(let number) where kinds.contains(.integer):
            if let integer = Int64(exactly: number) { return .int(integer) }
        case .string where kinds.contains(.string): return plain
        case .array where kinds.contains(.array): return plain
        case .object where kinds.contains(.object): return plain
        default: break
        }
        if lenient, kinds.contains(.string), let text = node.scalarText, plain != .null { return .string(text) }
        return nil
    }

    private mutating func members(
        _ pairs: [YAMLNode.Pair], _ schema: JSONSchema, _ place: SchemaLocation, lenient: Bool,
        _ value: inout ConfigValue
    ) -> [Fault] {
        var faults: [Fault] = []
        var values: [(key: String, value: ConfigValue)] = []
        for pair in pairs {
            guard let name = pair.key.keyName else {
                faults.append(
                    Fault(
                        mark: pair.key.mark, path: place.path,
                        kind: .key(message: "a key that is not text", remedy: "write the key in quotes")))
                continue
            }
            let inner = place.member(name, pair.key.mark)
            if let property = schema.properties[name] ?? schema.additionalProperties {
                if schema.properties[name] == nil, !property.fitsAnything {
                    faults.append(
                        Fault(
                            mark: pair.key.mark, path: place.path,
                            kind: .key(
                                message: "unknown key \(quoted(name))",
                                remedy: suggestion(for: name, among: Array(schema.properties.keys)) ?? "remove it")))
                    values.append((name, NaturalValue.exact(pair.value)))
                    continue
                }
                let outcome = validate(pair.value, property, inner, lenient: lenient)
                values.append((name, outcome.value))
                faults += outcome.faults
            } else {
                let reference = place.allowsSecrets ? SecretReference(pair.value) : nil
                values.append((name, reference.map { .secret($0) } ?? undescribed(pair.value, schema, place)))
            }
        }
        let present = Set(pairs.compactMap { $0.key.keyName })
        for name in schema.required where !present.contains(name) {
            faults.append(
                Fault(
                    mark: place.mark, path: place.path,
                    kind: .key(message: "missing key \(quoted(name))", remedy: "add \"\(shortened(name)):\"")))
        }
        value = .object(values)
        return faults
    }

    /// Returns the value of a node inside of one that `schema` describes, but not this node.
    ///
    /// It has its secrets at any depth, unless another part of the schema may describe it.
    private func undescribed(_ node: YAMLNode, _ schema: JSONSchema, _ place: SchemaLocation) -> ConfigValue {
        let isWhole = schema.reference == nil && schema.anyOf.isEmpty && schema.oneOf.isEmpty
        return place.allowsSecrets && isWhole ? NaturalValue.withSecrets(node) : NaturalValue.exact(node)
    }

    private func limits(_ value: ConfigValue, _ bounds: JSONSchema.Bounds, _ place: SchemaLocation) -> [Fault] {
        let number: Double
        switch value {
        case .int(let integer): number = Double(integer)
        case .double(let double): number = double
        case .decimal(let text):
            guard let double = Double(text) else { return [] }
            number = double
        case .string(let text):
            let length = text.unicodeScalars.count
            return bounds.length.contains(length) ? [] : [bound(place, "characters", length, bounds.length)]
        default: return []
        }
        var wanted: [String] = []
        if let minimum = bounds.minimum, !(number >= minimum) { wanted.append("at least \(words(minimum))") }
        if let maximum = bounds.maximum, !(number <= maximum) { wanted.append("at most \(words(maximum))") }
        if let minimum = bounds.exclusiveMinimum, !(number > minimum) { wanted.append("more than \(words(minimum))") }
        if let maximum = bounds.exclusiveMaximum, !(number < maximum) { wanted.append("less than \(words(maximum))") }
        return wanted.isEmpty ? [] : [other(place, "must be \(wanted.joined(separator: " and "))", nil)]
    }

    private func words(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? "\(number)"
    }

    private func bound(_ place: SchemaLocation, _ what: String, _ count: Int, _ range: ClosedRange<Int>) -> Fault {
        let wanted =
            count < range.lowerBound ? "at least \(range.lowerBound)" : "at most \(range.upperBound)"
        return other(place, count == 0 ? "is empty" : "has \(count) \(what), must have \(wanted)", nil)
    }

    private func other(_ place: SchemaLocation, _ message: String, _ remedy: String?) -> Fault {
        Fault(mark: place.mark, path: place.path, kind: .other(message: message, remedy: remedy))
    }

    private func secret(_ node: YAMLNode, _ place: SchemaLocation) -> Outcome {
        if let reference = SecretReference(node) { return (.secret(reference), []) }
        // An empty text is not a secret: many APIs take their key as the user name and have no password.
        if node.scalar == .string("") { return (.string(""), []) }
        if case .mapping(let pairs) = node.content, pairs.count == 1, pairs[0].key.keyName == "env" {
            let remedy =
                "an environment variable has letters A-Z and a-z, digits and _, and does not begin with a digit"
            return (.null, [other(place, "names no environment variable", remedy)])
        }
        return (.null, [other(place, "is a secret and must not be a literal", "write {env: NAME} or {file: PATH}")])
    }
}
