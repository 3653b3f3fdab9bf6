internal import BridgeKit

/// Converts an object as read to the type of the element that an update sends, which may differ.
///
/// Members that the target type cannot represent are omitted. If the target has elements that the type as read lacks,
/// the update is refused: a service that replaces the whole object would empty them.
struct TypeFit {
    let target: RequestTarget
    /// Elements of the target whose values come from elsewhere, or that the config omits.
    let filled: Set<String>

    /// - Parameter source: The type as read; nil if unknown.
    /// - Throws: ``BridgeError`` unsupported, with the elements that would be lost.
    func fitted(_ value: InputValue, from source: TypeID?) throws(BridgeError) -> InputValue {
        var unknown: [String] = []
        let fitted = try fit(value, source, target.element.type, [], &unknown)
        if !unknown.isEmpty { throw Self.refusal(unknown, target.path) }
        return fitted
    }

    /// Returns the paths of the target's elements that objects of the type as read never have.
    func unknownElements(from source: TypeID?) -> [String] {
        var unknown: [String] = []
        _ = try? fit(.object([]), source, target.element.type, [], &unknown)
        return unknown
    }

    static func refusal(_ unknown: [String], _ path: [String]) -> BridgeError {
        BridgeError(
            .unsupported,
            "<\(path.last ?? "the request")> takes \(unknown.prefix(8).joined(separator: ", ")), which the object as it is read "
                + "does not have: left out, it may be emptied",
            remedy: "let read_one return the whole object, give a value under \"input\", name what may be left out in "
                + "\"leave_out\", or set \"send: changes\" if the service leaves the rest unchanged")
    }

    private func fit(
        _ value: InputValue, _ source: TypeID?, _ wanted: TypeID, _ path: [String], _ unknown: inout [String]
    ) throws(BridgeError) -> InputValue {
        if source == wanted { return value }
        if case .array(let list) = value {
            var fitted: [InputValue] = []
            for element in list { fitted.append(try fit(element, source, wanted, path, &unknown)) }
            return .array(fitted)
        }
        guard case .object(let members) = value else { return value }
        if case .text(let name)? = value.member("@xsi:type") {
            let actual = QName(clark: name)
            if let own = target.schemas.namesOfTypes[wanted] {
                if actual == own || target.schemas.concreteTypes(of: own).contains(actual) { return value }
                throw BridgeError(
                    .unsupported,
                    "the object is of the type \(actual.local), which <\(target.element.name.local)> does not take",
                    remedy: "use an operation that takes it, or \"send: changes\"")
            }
        }
        guard case .complex(let type) = target.schemas[wanted] else {
            if members.allSatisfy({ $0.name == "#text" || $0.name.hasPrefix("@") }) { return value }
            throw BridgeError(
                .unsupported,
                "<\((target.path + path).last ?? "")> has elements, and the schema does not say what it takes",
                remedy: "set \"send: changes\" if the service leaves the rest unchanged")
        }
        var own = ComplexType()
        own.isOpen = true
        if let source, case .complex(let known) = target.schemas[source] { own = known }
        return .object(try fit(members, own, type, path, &unknown))
    }

    private func fit(
        _ members: [InputValue.Member], _ source: ComplexType, _ wanted: ComplexType, _ path: [String],
        _ unknown: inout [String]
    ) throws(BridgeError) -> [InputValue.Member] {
        var fitted: [InputValue.Member] = []
        for member in members where member.name != "@xsi:type" {
            let local = QName(clark: member.name).local
            if member.name.hasPrefix("@") {
                let name = QName(clark: String(member.name.dropFirst()))
                let isKnown = wanted.attribute(named: name, inNamespace: false) != nil
                if isKnown || wanted.isAttributeOpen { fitted.append(member) }
            } else if member.name == "#text" {
                if wanted.text != nil || wanted.isMixed { fitted.append(member) }
            } else if let child = wanted.child(named: local) {
                let own = source.child(named: local)
                let value = try fit(member.value, own?.type, child.type, path + [local], &unknown)
                fitted.append(.init(name: local, value: value))
            } else if wanted.isOpen {
                fitted.append(member)
            }
        }
        let names = Set(members.map { QName(clark: $0.name).local })
        for child in wanted.children where !names.contains(child.name.local) {
            guard !source.children.contains(where: { $0.name.local == child.name.local }),
                !path.isEmpty || !filled.contains(child.name.local)
            else { continue }
            unknown.append((path + [child.name.local]).joined(separator: "/"))
        }
        for attribute in wanted.attributes where attribute.value == nil && !names.contains("@" + attribute.name) {
            guard !source.attributes.contains(where: { $0.name == attribute.name }),
                !path.isEmpty || !filled.contains("@" + attribute.name)
            else { continue }
            unknown.append((path + ["@" + attribute.name]).joined(separator: "/"))
        }
        return fitted
    }
}
