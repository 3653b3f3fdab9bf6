package import Model
package import RecordBatch

/// Identifies a record's entity within a family, by the matchers of the sub-entities.
struct Recognition: Sendable {
    /// An entity with its sub-entities.
    fileprivate struct Kind: Sendable {
        let plan: Int
        let matcher: Matcher?
        let kinds: [Kind]
    }

    /// The entities of a family, which the recognitions of all of them share.
    struct Kinds: Sendable {
        /// The root's name.
        fileprivate let root: String
        /// Per entity, by its name.
        fileprivate private(set) var kinds: [String: Kind] = [:]
        /// Per entity, by its name: the plans of its super-entities.
        fileprivate private(set) var above: [String: [Int]] = [:]
        /// What all matchers of the family read, each path once.
        fileprivate let paths: [RemotePath]

        /// Finds the entities below a root.
        init(of root: Entity, in model: Model, _ indexes: [String: Int]) {
            self.root = root.name
            var known: Set<[ExactText]> = []
            paths = model.family(of: root).flatMap { $0.matcher?.paths ?? [] }
                .filter { known.insert($0.components.map(ExactText.init)).inserted }
            _ = add(root, above: [], in: model, indexes)
        }

        private mutating func add(_ entity: Entity, above: [Int], in model: Model, _ indexes: [String: Int]) -> Kind {
            let plan = indexes[entity.name] ?? 0
            var below: [Kind] = []
            for subentity in model.subentities(of: entity) {
                below.append(add(subentity, above: above + [plan], in: model, indexes))
            }
            let kind = Kind(plan: plan, matcher: entity.matcher, kinds: below)
            kinds[entity.name] = kind
            self.above[entity.name] = above
            return kind
        }
    }

    /// The expected entity.
    private let expected: Kind
    /// The root of the family; nil if it is the expected entity.
    private let root: Kind?
    /// The plans of the expected entity's super-entities.
    private let above: [Int]
    /// What the matchers of the family read.
    let paths: [RemotePath]
    private let code: CustomCode

    /// Creates a recognition; nil for an entity without a family.
    init?(of entity: Entity, _ family: Kinds, _ code: CustomCode) {
        guard family.kinds.count > 1, let kind = family.kinds[entity.name] else { return nil }
        self.code = code
        expected = kind
        root = family.root == entity.name ? nil : family.kinds[family.root]
        above = family.above[entity.name] ?? []
        paths = family.paths
    }

    /// Returns the plan for a record, which is that of the most specific entity whose matcher accepts it.
    ///
    /// The expected entity is the default: a summary may lack the members that `when` reads. If it has no matcher, a
    /// match of its super-entity does not speak against it.
    ///
    /// - Returns: The plan, and whether a matcher accepted the record: if not, nothing in it says what the object is.
    /// - Throws: Why code failed that is a matcher.
    func plan(for object: BatchValue) throws(ValueConverter.Misfit) -> (plan: Int, isTold: Bool) {
        if let plan = try search(below: expected, object) { return (plan, true) }
        guard let root else { return (expected.plan, false) }
        if let matcher = expected.matcher, try matcher.fits(object, code) { return (expected.plan, true) }
        guard let plan = try search(below: root, object), expected.matcher != nil || !above.contains(plan) else {
            return (expected.plan, false)
        }
        return (plan, true)
    }

    /// Returns the plan of the most specific sub-entity whose matcher accepts a record.
    ///
    /// The matchers of its super-entities need not accept the record. A sub-entity for which they do comes first: its
    /// matcher may be meant as an addition to theirs.
    private func search(below kind: Kind, _ object: BatchValue) throws(ValueConverter.Misfit) -> Int? {
        if let plan = try searchNext(below: kind, object) { return plan }
        return try searchFurther(below: kind, object)
    }

    /// Returns the plan of the first matching sub-entity or of one below it.
    ///
    /// Sub-entities without a matcher are transparent.
    private func searchNext(below kind: Kind, _ object: BatchValue) throws(ValueConverter.Misfit) -> Int? {
        for candidate in kind.kinds {
            if let matcher = candidate.matcher {
                guard try matcher.fits(object, code) else { continue }
                return try search(below: candidate, object) ?? candidate.plan
            }
            if let plan = try searchNext(below: candidate, object) { return plan }
        }
        return nil
    }

    /// Returns the plan of the first match below the sub-entities that do not match.
    private func searchFurther(below kind: Kind, _ object: BatchValue) throws(ValueConverter.Misfit) -> Int? {
        for candidate in kind.kinds where !candidate.kinds.isEmpty {
            let isTransparent = candidate.matcher == nil
            let plan = try isTransparent ? searchFurther(below: candidate, object) : search(below: candidate, object)
            if let plan { return plan }
        }
        return nil
    }
}

extension Matcher {
    /// Returns whether a record fulfills all conditions, and code of the program accepts it.
    ///
    /// - Throws: Why the code failed.
    func fits(_ object: BatchValue, _ code: CustomCode) throws(ValueConverter.Misfit) -> Bool {
        for case .code(let name) in conditions {
            guard let matcher = code.matchers[name] else {
                throw ValueConverter.Misfit(reason: "this program has no code \"\(name)\"")
            }
            guard try code.call(name, { try matcher.fits(RemoteRecord(object)) }) else { return false }
        }
        return fits(object)
    }

    /// Returns whether a record fulfills all conditions; code is not asked.
    package func fits(_ object: BatchValue) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .has(let path): object.value(at: path).map { $0.tag != .null } ?? false
            case .lacks(let path): object.value(at: path).map { $0.tag == .null } ?? true
            case .equals(let path, let values): object.value(at: path).map { $0.equals(oneOf: values) } ?? false
            case .matches(let path, let expression):
                object.value(at: path).flatMap { RemoteScalar($0).text }.map(expression.matches) ?? false
            case .code: true
            }
        }
    }
}

extension BatchValue {
    /// Returns whether the value has one of these texts, or is a number that one of them is, too: 1 is `1.0`.
    fileprivate func equals(oneOf texts: [String]) -> Bool {
        guard let own = RemoteScalar(self).text else { return false }
        if texts.contains(where: { ExactText($0) == ExactText(own) }) { return true }
        guard [.int64, .double, .decimal].contains(tag) else { return false }
        return texts.contains { text in
            // Two integers of 64 bits with different texts differ: most records have those.
            if tag == .int64, Int64(text).map(String.init) == text { return false }
            guard let wanted = DecimalText(text)?.canonical else { return false }
            return wanted == DecimalText(own)?.canonical
        }
    }

    /// Returns the value at a path through objects and single elements of arrays.
    ///
    /// The last of several members with the same name counts.
    package func value(at path: RemotePath) -> BatchValue? {
        var value = self
        for name in path.components {
            guard let child = value.child(name) else { return nil }
            value = child
        }
        return value
    }

    /// Returns the values that a path across an array leads to; nil if the path ends before an array, or crosses none.
    func values(across path: RemotePath) -> [BatchValue]? {
        var value = self
        for (depth, name) in path.components.enumerated() {
            if let child = value.child(name) {
                value = child
            } else {
                return value.tag == .array ? value.values(below: path.components[depth...]) : nil
            }
        }
        return nil
    }

    private func values(below path: ArraySlice<String>) -> [BatchValue] {
        if tag == .array { return elements.flatMap { $0.values(below: path) } }
        guard tag == .object, let name = path.first, let inner = member(name) else { return [] }
        return path.count == 1 ? [inner] : inner.values(below: path.dropFirst())
    }

    /// Returns the member of an object, or the single element of an array.
    private func child(_ name: String) -> BatchValue? {
        // As in a mapping, a number is a member name if the array's elements have such a member.
        if tag == .array, let index = RemotePath.elementIndex(name), index < count,
            !(0..<count).contains(where: { self[$0].tag == .object && self[$0].member(name) != nil })
        {
            return self[index]
        }
        return tag == .object ? member(name) : nil
    }

    private func member(_ name: String) -> BatchValue? {
        for index in (0..<count).reversed() where self[index].hasKey(name) { return self[index] }
        return nil
    }
}
