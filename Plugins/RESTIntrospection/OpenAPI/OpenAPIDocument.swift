package import BridgeJSON
internal import BridgeContract
internal import Inference
internal import TextFormats

/// An OpenAPI 3.0 or 3.1 document, or a Swagger 2.0 document, behind one interface.
package struct OpenAPIDocument {
    let root: JSONTree
    let isSwagger2: Bool
    /// The document's URL, the base of relative server URLs.
    package let location: String?

    private static let maxReferenceDepth = 32
    private static let maxShapeDepth = 7
    /// The maximum number of shapes per reply, since a document's schemas may be wide and refer to each other.
    private static let maxShapes = 20_000
    /// The maximum number of named schemas inside each other; a chain of `allOf` would take the whole stack.
    private static let maxNames = 256
    private let memo = ShapeMemo()

    /// - Throws: ``BridgeError`` if the value is not such a document.
    package init(_ root: JSONTree, location: String?) throws {
        self.root = root
        self.location = location
        isSwagger2 = root["swagger"] != nil
        let version = root["swagger"] ?? root["openapi"]
        let text = version?.text ?? version?.json ?? ""
        guard ["2", "3"].contains(text.prefix(1)), root["paths"]?.isObject ?? (root["openapi"] != nil) else {
            throw BridgeError(
                .malformed,
                text.isEmpty
                    ? "this is not an OpenAPI document: it has no member openapi or swagger"
                    : "bmo does not support this OpenAPI document: version \(text), or without paths",
                remedy: "give a document of OpenAPI 3.0, 3.1 or Swagger 2.0", location: location)
        }
    }

    package var title: String { root["info"]?["title"]?.text ?? "the API" }

    // MARK: References

    /// Returns the target of a value's `$ref`, or the value itself, with the name of the first schema on the way.
    func resolve(_ value: JSONTree) -> (value: JSONTree, name: String?) {
        var value = value
        var name: String?
        for _ in 0..<Self.maxReferenceDepth {
            guard let reference = value["$ref"]?.text else { return (value, name) }
            guard let target = find(reference) else { return (.object([]), name) }
            // The first name counts, since it is the document's name for the thing at this place.
            name = name ?? reference.split(separator: "/").last.map { Self.unescape(String($0)) }
            value = target
        }
        return (.object([]), name)
    }

    /// Resolves a JSON Pointer in a URI fragment (RFC 6901); references to other files are not resolved.
    private func find(_ reference: String) -> JSONTree? {
        guard reference.hasPrefix("#/") else { return nil }
        var value = root
        for part in reference.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false) {
            let name = Self.unescape(String(part))
            if let elements = value.elements, let index = Int(name), elements.indices.contains(index) {
                value = elements[index]
            } else if let next = value[name] {
                value = next
            } else {
                return nil
            }
        }
        return value
    }

    private static func unescape(_ part: String) -> String {
        PercentEncoding.decoded(part).replacing("~1", with: "/").replacing("~0", with: "~")
    }

    // MARK: Schemas

    /// Returns the shape that a schema describes.
    func shape(_ schema: JSONTree) -> ValueShape {
        var budget = Self.maxShapes
        return shape(schema, path: [], depth: 0, &budget)
    }

    private func shape(_ schema: JSONTree, path: [String], depth: Int, _ budget: inout Int) -> ValueShape {
        guard path.isEmpty, case .object(let members) = schema, members.names == ["$ref"],
            let reference = members["$ref"]?.text
        else { return newShape(schema, path: path, depth: depth, &budget) }
        let place = ShapeMemo.Place(reference: reference, depth: depth)
        if let known = memo.shape(at: place, &budget) { return known }
        let before = budget
        let shape = newShape(schema, path: path, depth: depth, &budget)
        memo.keep(shape, at: place, before: before, after: budget)
        return shape
    }

    private func newShape(_ schema: JSONTree, path: [String], depth: Int, _ budget: inout Int) -> ValueShape {
        budget -= 1
        let (value, name) = resolve(schema)
        // For a recursive schema, or one deeper than the mapping goes, the name is enough.
        guard depth <= Self.maxShapeDepth, budget > 0, path.count < Self.maxNames,
            name.map({ !path.contains($0) }) ?? true
        else {
            return ValueShape(kinds: cutKinds(value), name: name)
        }
        let path = path + [name].compactMap(\.self)
        var result = ValueShape(kinds: kinds(value), format: value["format"]?.text, name: name ?? value["title"]?.text)
        result.isWriteOnly = value["writeOnly"]?.bool ?? false
        // OpenAPI 3.1 allows members beside a reference.
        result.isReadOnly = (value["readOnly"] ?? schema["readOnly"])?.bool ?? false
        // allOf merges its parts.
        var whole = ShapeUnion(result)
        let ownName = name ?? value["title"]?.text
        let parts = value["allOf"]?.elements ?? []
        for part in parts {
            let more = shape(part, path: path, depth: depth, &budget)
            let kinds = whole.shape.kinds.isEmpty ? more.kinds : whole.shape.kinds
            whole.narrow(by: more)
            whole.shape.kinds = kinds
            whole.shape.required.formUnion(more.required)
            // A wrapper around a single reference, written to add a description, keeps the name of that reference.
            whole.shape.name = ownName ?? (parts.count == 1 ? more.name : nil)
        }
        let alternatives = (value["oneOf"]?.elements ?? []) + (value["anyOf"]?.elements ?? [])
        if !alternatives.isEmpty {
            let shapes = alternatives.map { shape($0, path: path, depth: depth, &budget) }
            let solid = shapes.filter { $0.kinds != [.null] }
            let nulls: Set<ValueShape.Kind> = solid.count < shapes.count ? [.null] : []
            if let first = solid.first {
                let union = Self.union(first, solid.dropFirst())
                let ownName = whole.shape.name
                let ownKinds = whole.shape.kinds
                whole.merge(with: union)
                whole.shape.required.formUnion(union.required)
                whole.shape.name = ownName ?? union.name
                whole.shape.kinds = (ownKinds.isEmpty ? union.kinds : ownKinds.union(union.kinds)).union(nulls)
                // If an alternative does not restrict the kind, the value may be of any kind.
                if solid.contains(where: \.kinds.isEmpty), ownKinds.isEmpty { whole.shape.kinds = [] }
            }
        }
        if case .object(let properties) = value["properties"] {
            for (property, schema) in properties.all {
                var shape = shape(schema, path: path, depth: depth + 1, &budget)
                if Self.isID(property) { shape.assumeInteger() }
                whole.set(shape, for: property)
            }
        }
        result = whole.shape
        result.required.formUnion((value["required"]?.elements ?? []).compactMap(\.text))
        if let items = value["items"] { result.elements = [shape(items, path: path, depth: depth + 1, &budget)] }
        if let map = value["additionalProperties"], map.isObject, !map.members.isEmpty, result.properties.isEmpty {
            result.isMap = true
            result.elements = [shape(map, path: path, depth: depth + 1, &budget)]
        }
        result.values += (value["enum"]?.elements ?? []).compactMap(\.text)
        let isNullable = value["nullable"]?.bool == true || value["x-nullable"]?.bool == true
        // An empty set of kinds already allows any value, including null.
        if isNullable, !result.kinds.isEmpty { result.kinds.insert(.null) }
        if result.format == nil, result.solid == [.string] { result.format = exampleFormat(value) }
        return result
    }

    /// Returns the shape of alternatives: what they say differently is unknown.
    private static func union(_ first: ValueShape, _ others: ArraySlice<ValueShape>) -> ValueShape {
        var union = ShapeUnion(first)
        for other in others {
            let (name, format) = (union.shape.name, union.shape.format)
            union.merge(with: other)
            if name != other.name { union.shape.name = nil }
            union.shape.required.formIntersection(other.required)
            if format != other.format { union.shape.format = nil }
        }
        return union.shape
    }

    /// Whether a member's name says that it identifies something: `id`, `petId`, `pet_id`.
    ///
    /// Generators that only know numbers, as that of NestJS, write ids as numbers too.
    private static func isID(_ name: String) -> Bool { NameWords.lower(name).last == "id" }

    /// Returns the kinds of a schema that is not followed further, which its parts may have in its place.
    private func cutKinds(_ value: JSONTree) -> Set<ValueShape.Kind> {
        let own = kinds(value)
        guard own.isEmpty else { return own }
        for part in value["allOf"]?.elements ?? [] {
            let found = kinds(resolve(part).value)
            if !found.isEmpty { return found }
        }
        return own
    }

    private func kinds(_ value: JSONTree) -> Set<ValueShape.Kind> {
        let names = value["type"].map { $0.elements?.compactMap(\.text) ?? [$0.text ?? ""] } ?? []
        var kinds = Set(names.compactMap { ValueShape.Kind(rawValue: $0.lowercased()) })
        // Common type names that no version of OpenAPI defines.
        for name in names {
            switch name.lowercased() {
            case "int", "long", "int32", "int64": kinds.insert(.integer)
            case "float", "double", "decimal": kinds.insert(.number)
            case "bool": kinds.insert(.boolean)
            case "text", "datetime", "date", "uuid", "file": kinds.insert(.string)
            default: break
            }
        }
        if !kinds.isEmpty { return kinds }
        if value["properties"] != nil || value["additionalProperties"] != nil { return [.object] }
        if value["items"] != nil { return [.array] }
        let values = (value["enum"]?.elements ?? []) + [value["const"]].compactMap(\.self)
        if !values.isEmpty, values.allSatisfy({ $0.text != nil }) { return [.string] }
        return []
    }

    /// Returns the format of an example, which may say what the schema leaves out.
    private func exampleFormat(_ value: JSONTree) -> String? {
        let examples =
            [value["example"], value["x-example"], value["default"]].compactMap { $0?.text }
            + (value["examples"]?.elements ?? []).compactMap(\.text)
        guard !examples.isEmpty else { return nil }
        let format = TextFormat.common(examples)
        if format == .timestamp { return TextFormat.haveZones(examples) ? "date-time" : "date-time-local" }
        return format == .date ? "date" : format == .uuid ? "uuid" : nil
    }
}
