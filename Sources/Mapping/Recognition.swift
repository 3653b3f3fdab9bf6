package import Model
package import RecordBatch

/// Tells which entity of a family a record is of, by the matchers of its sub-entities.
struct Recognition: Sendable {
    /// An entity with what is below it.
    private struct Kind: Sendable {
        let plan: Int
        let matcher: Matcher?
        let kinds: [Kind]
    }

    /// The entity that is expected.
    private let expected: Kind
    /// The root of its family.
    private let root: Kind
    /// All matchers of the family.
    let matchers: [Matcher]

    /// Nil when there is nothing to tell: an entity without a family.
    init?(of entity: Entity, in model: Model, indexes: [String: Int]) {
        let family = model.family(of: entity)
        guard family.count > 1 else { return nil }
        func kind(of entity: Entity) -> Kind {
            Kind(
                plan: indexes[entity.name] ?? 0, matcher: entity.matcher,
                kinds: model.subentities(of: entity).map(kind))
        }
        expected = kind(of: entity)
        root = kind(of: family[0])
        matchers = family.compactMap(\.matcher)
    }

    /// The plan for a record: the most special entity that its matcher recognises.
    ///
    /// The expected entity counts when no other of the family is recognised: a summary may lack what `when` looks at.
    func plan(for object: BatchValue) -> Int {
        if let plan = Self.search(expected, object) { return plan }
        guard let matcher = expected.matcher, !matcher.fits(object) else { return expected.plan }
        return Self.search(root, object) ?? expected.plan
    }

    /// The first sub-entity that is recognised, or the first below it; one without a matcher is passed through.
    private static func search(_ kind: Kind, _ object: BatchValue) -> Int? {
        for candidate in kind.kinds {
            if let matcher = candidate.matcher {
                guard matcher.fits(object) else { continue }
                return search(candidate, object) ?? candidate.plan
            }
            if let plan = search(candidate, object) { return plan }
        }
        return nil
    }
}

extension Matcher {
    /// Whether a record fulfils all conditions.
    package func fits(_ object: BatchValue) -> Bool {
        conditions.allSatisfy { condition in
            switch condition {
            case .has(let path): object.value(at: path).map { $0.tag != .null } ?? false
            case .lacks(let path): object.value(at: path).map { $0.tag == .null } ?? true
            case .equals(let path, let values):
                object.value(at: path).flatMap { RemoteScalar($0).text }.map { text in
                    values.contains { $0.utf8.elementsEqual(text.utf8) }
                } ?? false
            case .matches(let path, let expression):
                object.value(at: path).flatMap { RemoteScalar($0).text }.map(expression.matches) ?? false
            }
        }
    }
}

extension BatchValue {
    /// The value at a path, which leads through objects and single elements of arrays; of members with one name the last.
    package func value(at path: RemotePath) -> BatchValue? {
        var value = self
        for name in path.components {
            // As in a mapping: where the elements have such a member, the name is no place.
            if value.tag == .array, let index = RemotePath.elementIndex(name), index < value.count,
                !(0..<value.count).contains(where: { value[$0].tag == .object && value[$0].member(name) != nil })
            {
                value = value[index]
                continue
            }
            guard value.tag == .object, let member = value.member(name) else { return nil }
            value = member
        }
        return value
    }

    private func member(_ name: String) -> BatchValue? {
        for index in (0..<count).reversed() where self[index].hasKey(name) { return self[index] }
        return nil
    }
}
