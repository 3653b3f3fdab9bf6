@testable import SOAPBridge

/// An input with all that a schema requires and nothing else.
struct RequiredInput {
    private let schemas: SchemaSet
    private var values = 0

    static func make(_ operation: WSDLOperation, _ schemas: SchemaSet) -> InputValue {
        var maker = RequiredInput(schemas: schemas)
        let elements = operation.input.elements
        if elements.count == 1 { return maker.value(of: elements[0], depth: 0) }
        return .object(elements.map { .init(name: $0.name.local, value: maker.value(of: $0, depth: 0)) })
    }

    private init(schemas: SchemaSet) { self.schemas = schemas }

    private mutating func value(of element: SchemaElement, depth: Int) -> InputValue {
        values += 1
        guard depth < 12, values < 20_000 else { return .object([]) }
        if let value = element.value { return .text(value) }
        var type = schemas[element.type]
        var members: [InputValue.Member] = []
        if case .complex(let complex) = type, complex.isAbstract, let name = schemas.namesOfTypes[element.type] {
            guard let concrete = schemas.concreteTypes(of: name).first, let id = schemas.typeNames[concrete] else {
                return .null
            }
            members.append(.init(name: "@xsi:type", value: .text(concrete.description)))
            type = schemas[id]
        }
        switch type {
        case .any: return .text("x")
        case .simple(let kind): return .text(Self.sample(kind, schemas.detail(element.type)))
        case .complex(let complex):
            for attribute in complex.attributes where attribute.isRequired && attribute.value == nil {
                members.append(
                    .init(name: "@\(attribute.name)", value: .text(Self.sample(attribute.kind, SimpleDetail()))))
            }
            if let kind = complex.text {
                members.append(.init(name: "#text", value: .text(Self.sample(kind, SimpleDetail()))))
            } else if complex.isArray {
                guard let member = complex.children.first else { return .array([]) }
                return .array([value(of: member, depth: depth + 1), value(of: member, depth: depth + 1)])
            } else {
                for child in complex.children where child.isRequired {
                    members.append(
                        .init(name: child.name.description, value: value(of: child, depth: depth + 1)))
                }
            }
            return .object(members)
        }
    }

    private static func sample(_ kind: SimpleKind, _ detail: SimpleDetail) -> String {
        if let first = detail.enumeration.first { return first }
        switch kind {
        case .integer, .decimal, .double: return "1"
        case .boolean: return "true"
        case .base64: return "AAAA"
        case .hex: return "00"
        case .text:
            switch detail.builtIn {
            case "date": return "2020-01-01"
            case "dateTime": return "2020-01-01T00:00:00Z"
            case "time": return "00:00:00"
            case "duration": return "P1D"
            default: return "a<&>b"
            }
        }
    }
}
