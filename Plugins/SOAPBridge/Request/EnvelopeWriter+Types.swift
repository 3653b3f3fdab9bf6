internal import BridgeKit

/// Types named in a request: in place of abstract ones, and in SOAP encoding.
extension EnvelopeWriter {
    /// Returns the type named by the member `@xsi:type`, the only concrete type of an abstract one, or the declared
    /// type.
    ///
    /// - Returns: The type, and the name under which the request has to name it; nil for the declared type.
    mutating func actualType(
        of element: SchemaElement, _ value: InputValue, _ path: String
    ) throws(BridgeError) -> (TypeID, name: QName?) {
        let declaredName = schemas.namesOfTypes[element.type]
        if let named = value.member("@xsi:type") {
            let text = try Self.simpleText(named, path)
            let name =
                text.hasPrefix("{") ? QName(clark: text) : QName("", String(text.split(separator: ":").last ?? ""))
            let derived = declaredName.map { schemas.concreteTypes(of: $0) } ?? []
            if text.hasPrefix("{") {
                if let found = schemas.typeNames[name] { return (found, name) }
                if let found = builtInType(name) { return (found, name) }
                // It says no more than the schema does.
                if name.isBuiltIn, ["anyType", "anySimpleType"].contains(name.local) { return (element.type, name) }
            }
            // A name without its namespace selects the type of that name that fits here.
            let known = schemas.typeNames.names(local: name.local).sorted()
            let fitting = known.filter { $0 == declaredName || derived.contains($0) }
            let meant = fitting.isEmpty ? known.filter { !$0.isBuiltIn } : fitting
            guard meant.count < 2 else {
                throw BridgeError(
                    .configuration,
                    "\(path) has the xsi:type \"\(text)\", which \(meant.count) types have as their name",
                    remedy: "write one of them with its namespace: \(meant.map(\.description).joined(separator: ", "))")
            }
            if let known = meant.first, let found = schemas.typeNames[known] {
                return (found, schemas.namesOfTypes[found] ?? known)
            }
            let builtIn = QName(Namespace.schema, name.local)
            if let found = builtInType(builtIn) { return (found, builtIn) }
            throw BridgeError(
                .configuration, "\(path) has the xsi:type \"\(text)\", which is in no schema",
                remedy: "types that fit: \(NearestName.list(derived.map(\.local), to: name.local))")
        }
        guard case .complex(let type) = schemas[element.type], type.isAbstract, let declaredName else {
            return (element.type, nil)
        }
        let derived = schemas.concreteTypes(of: declaredName)
        guard derived.count == 1, let only = schemas.typeNames[derived[0]] else {
            throw BridgeError(
                .configuration, "\(path) is of the abstract type \(declaredName.local)",
                remedy: "say which with the member @xsi:type: \(NearestName.list(derived.map(\.local), to: ""))")
        }
        return (only, derived[0])
    }

    /// Returns a type of XML Schema or of SOAP encoding, also one that the schemas do not use; nil for other names.
    private mutating func builtInType(_ name: QName) -> TypeID? {
        let current = QName(Namespace.drafts[name.namespace] ?? name.namespace, name.local)
        guard current.isBuiltIn, SimpleKind(builtIn: current.local) != nil else { return nil }
        return schemas.type(named: current)
    }

    /// Names the type of an element; one without a name is left out.
    mutating func writeTypeAttribute(_ type: TypeID, _ name: QName?) {
        if case .complex(let complex) = schemas[type], complex.isArray, isEncoded {
            text += " xmlns:xsi=\"\(Namespace.instance)\" xsi:type=\"\(prefixed(QName(encodingNamespace, "Array")))\""
            return
        }
        guard let name else { return }
        text += " xmlns:xsi=\"\(Namespace.instance)\" xsi:type=\"\(prefixed(name))\""
    }

    /// Writes the elements of a SOAP-ENC array, from a list or from an object that contains a list.
    mutating func writeArray(_ type: ComplexType, _ value: InputValue, _ path: String) throws(BridgeError) {
        guard let member = type.children.first else { return }
        var elements = value.elements
        if case .object(let members) = value {
            let inner = members.filter { !$0.name.hasPrefix("@") }
            elements = inner.count == 1 ? inner[0].value.elements : []
            guard inner.count < 2 else {
                throw BridgeError(.configuration, "\(path) takes a list, not an object")
            }
        }
        if value == .text("") { elements = [] }
        if isEncoded {
            let name = prefixed(schemas.namesOfTypes[member.type] ?? QName(Namespace.schema, "anyType"))
            let array = prefixed(QName(encodingNamespace, "arrayType")).split(separator: ":")[0]
            text +=
                version == .v11
                ? " \(array):arrayType=\"\(name)[\(elements.count)]\""
                : " \(array):itemType=\"\(name)\" \(array):arraySize=\"\(elements.count)\""
        }
        text += ">"
        for element in elements { try write(member, element, path: "\(path)/\(member.name.local)") }
    }
}

extension SchemaSet {
    /// Returns the types that an xsi:type may name in place of this one: its derived types that are not abstract.
    func concreteTypes(of name: QName) -> [QName] {
        var found: [QName] = []
        var seen: Set<QName> = [name]
        var waiting = derivedTypes[name] ?? []
        while let next = waiting.popLast() {
            guard seen.insert(next).inserted else { continue }
            waiting += derivedTypes[next] ?? []
            if let id = typeNames[next], case .complex(let type) = self[id], type.isAbstract { continue }
            found.append(next)
        }
        return found.sorted()
    }
}
