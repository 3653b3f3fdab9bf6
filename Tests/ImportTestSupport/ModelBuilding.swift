package import Mapping
package import Model

extension CompiledModel {
    /// A compiled model of these entities.
    package static func of(_ entities: Entity...) throws -> CompiledModel {
        try CompiledModel(Model(entities: entities))
    }
}

extension Entity {
    /// An entity of the bridge `remote`.
    package init(
        _ name: String, key: [String], _ attributes: [Attribute], _ relationships: [Relationship] = []
    ) {
        self.init(name: name, bridge: "remote", key: key, attributes: attributes, relationships: relationships)
    }
}

extension Attribute {
    /// An attribute that is read from a path, which defaults to its name.
    package static func of(
        _ name: String, _ type: AttributeType, from path: [String]? = nil, _ transformers: Transformer...
    ) -> Attribute {
        Attribute(
            name: name, type: type, source: path.map { .path(RemotePath($0)) }, transformers: transformers)
    }

    /// An attribute with the same value everywhere.
    package static func constant(_ name: String, _ type: AttributeType, _ value: ConfigValue) -> Attribute {
        Attribute(name: name, type: type, source: .constant(value))
    }
}

extension Relationship {
    /// A relationship to one object.
    package static func one(
        _ name: String, _ target: String, from path: [String]? = nil, inverse: String? = nil
    ) -> Relationship {
        Relationship(name: name, kind: .toOne, target: target, source: path.map { RemotePath($0) }, inverse: inverse)
    }

    /// A relationship to many objects.
    package static func many(
        _ name: String, _ target: String, from path: [String]? = nil, inverse: String? = nil,
        merge: Merge = .replace
    ) -> Relationship {
        Relationship(
            name: name, kind: .toMany, target: target, source: path.map { RemotePath($0) }, inverse: inverse,
            merge: merge)
    }
}

extension StoredValue {
    /// The value with its storage class, as SQL writes it.
    package var literal: String {
        switch form {
        case .null: "null"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): "'\(value.escaped)'"
        case .bytes(let bytes):
            "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}

extension String {
    /// The text with NUL (where a test's report would end) and combining marks (which Swift's `==` does not tell from
    /// composed letters) written as escapes.
    package var escaped: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.value == 0 || scalar.properties.canonicalCombiningClass != .notReordered {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}
