internal import BridgeKit

/// The element of a request that takes an object's values.
struct RequestTarget {
    /// The schemas, with an added type for a request of several parts.
    let schemas: SchemaSet
    let element: SchemaElement
    /// The names from the body's element down to the target; without the body's element for a request of several parts.
    let path: [String]

    /// - Parameter values: The path below the request.
    /// - Throws: ``BridgeError`` configuration for an element that the operation does not take, with the names of those
    ///   it takes.
    init(_ operation: WSDLOperation, values: [String], schemas: SchemaSet) throws(BridgeError) {
        var schemas = schemas
        var path: [String] = []
        var element: SchemaElement
        if operation.input.elements.count == 1, case .complex = schemas[operation.input.elements[0].type] {
            element = operation.input.elements[0]
            path = [element.name.local]
        } else {
            var parts = ComplexType()
            parts.children = operation.input.elements
            element = SchemaElement(name: QName("", "the request"), type: schemas.add(.complex(parts)))
        }
        for name in values {
            guard case .complex(let type) = schemas[element.type] else {
                element = SchemaElement(name: QName("", name), type: schemas.anyType, isRequired: false)
                path.append(name)
                continue
            }
            if let next = type.child(named: name) {
                element = next
            } else if type.isOpen {
                element = SchemaElement(name: QName("", name), type: schemas.anyType, isRequired: false)
            } else {
                throw BridgeError(
                    .configuration, "\"values\" names \"\(name)\", which \(operation.name) does not take",
                    remedy: "its elements: \(NearestName.list(type.memberNames, to: name))")
            }
            path.append(name)
        }
        self.schemas = schemas
        self.element = element
        self.path = path
    }

    /// Returns the type of an element with this value: the one that its xsi:type names, or the declared one.
    func content(of element: SchemaElement?, _ value: InputValue?) -> ComplexType? {
        guard let element else { return nil }
        if case .text(let name)? = value?.member("@xsi:type"), let type = schemas.typeNames[QName(clark: name)],
            case .complex(let complex) = schemas[type]
        {
            return complex
        }
        if case .complex(let complex) = schemas[element.type] { return complex }
        return nil
    }
}
