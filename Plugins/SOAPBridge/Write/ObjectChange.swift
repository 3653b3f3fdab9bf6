internal import BridgeKit

/// Merges new values into the tree of a request.
struct ObjectChange {
    let target: RequestTarget
    /// The change in words, for messages.
    let asked: String
    /// Whether an element that is not nillable may be omitted to clear its value, because the service treats omitted
    /// elements as empty.
    let leavesOut: Bool

    /// Returns the tree of an element with a new value; members that the new value does not name remain.
    ///
    /// - Returns: Nil if the element is to be omitted.
    /// - Throws: ``BridgeError`` configuration for a null that the schema cannot represent, or for a single value in
    ///   place of several.
    func merged(
        _ new: InputValue, into old: InputValue?, element: SchemaElement?, place: String
    ) throws(BridgeError) -> InputValue? {
        switch new {
        case .null: return try cleared(element, place)
        case .object(let members) where !members.isEmpty:
            return try merged(members, into: old, element: element, place: place)
        case .text, .bytes:
            if case .array(let list)? = old, list.count > 1 { throw severalValues(place) }
            // Attributes beside the text remain.
            if case .object(var members)? = old, !members.isEmpty,
                members.allSatisfy({ $0.name.hasPrefix("@") || $0.name == "#text" })
            {
                members.set("#text", to: new)
                return .object(members)
            }
            return new
        default: return new
        }
    }

    private func cleared(_ element: SchemaElement?, _ place: String) throws(BridgeError) -> InputValue? {
        guard let element, !element.isNillable else { return .null }
        guard !element.isRequired, leavesOut || element.isRepeated else {
            let why = element.isRequired ? "the schema requires it" : "left out, it would stay as it is"
            throw BridgeError(
                .configuration, "\(asked): \(place) cannot be null: it is not nillable, and \(why)",
                remedy: "give it a value")
        }
        return nil
    }

    private func merged(
        _ new: [InputValue.Member], into old: InputValue?, element: SchemaElement?, place: String
    ) throws(BridgeError) -> InputValue? {
        var members: [InputValue.Member] = []
        switch old {
        case .object(let known)?: members = known
        case .array(let list)?:
            guard list.count < 2 else { throw severalValues(place) }
            return try merged(new, into: list.first, element: element, place: place)
        case .text("")?, .null?, nil: break
        case .some(let text): members = [.init(name: "#text", value: text)]
        }
        if let type = new.first(where: { $0.name == "@xsi:type" }) { members.set(type.name, to: type.value) }
        let type = target.content(of: element, .object(members))
        for member in new where member.name != "@xsi:type" {
            let index = members.place(of: member.name)
            var value: InputValue?
            if member.name == "#text" || member.name.hasPrefix("@") {
                let isRequired = type?.attributes.contains { "@" + $0.name == member.name && $0.isRequired } ?? false
                guard member.value != .null || !isRequired else {
                    throw BridgeError(
                        .configuration,
                        "\(asked): \(place)/\(member.name) cannot be null: the schema requires the attribute",
                        remedy: "give it a value")
                }
                value = member.value == .null ? nil : member.value
            } else {
                value = try merged(
                    member.value, into: index.map { members[$0].value },
                    element: type?.child(named: member.name), place: "\(place)/\(member.name)")
            }
            if let index, let value {
                members[index].value = value
            } else if let index {
                members.remove(at: index)
            } else if let value {
                members.append(.init(name: member.name, value: value))
            }
        }
        return members.isEmpty && old == nil ? nil : .object(members)
    }

    private func severalValues(_ place: String) -> BridgeError {
        BridgeError(
            .configuration, "\(asked): \(place) repeats, and one value would replace all of them",
            remedy: "write the whole list")
    }
}

extension [InputValue.Member] {
    /// Returns the index of the member with this name, or with this local name.
    func place(of name: String) -> Int? {
        lastIndex { $0.name == name }
            ?? lastIndex { member in
                // `{urn:x}name`, or `@{urn:x}name` for an attribute.
                let isAttribute = member.name.hasPrefix("@{")
                guard isAttribute || member.name.hasPrefix("{") else { return false }
                let local = QName(clark: isAttribute ? String(member.name.dropFirst()) : member.name).local
                return (isAttribute ? "@" : "") + local == name
            }
    }

    mutating func set(_ name: String, to value: InputValue) {
        if let index = place(of: name) { self[index].value = value } else { append(.init(name: name, value: value)) }
    }
}

extension InputValue {
    /// Returns the value at a path of names, in which elements may lack their namespace.
    func value(at path: some Collection<String>) -> InputValue? {
        guard let name = path.first else { return self }
        guard case .object(let members) = self, let index = members.place(of: name) else {
            // A value without attributes is the text itself.
            return name == "#text" && scalar != nil ? self : nil
        }
        return members[index].value.value(at: path.dropFirst())
    }

    /// The text of an element without child elements; nil for others.
    var scalar: String? {
        switch self {
        case .text(let text): return text
        case .null: return ""
        case .bytes(let bytes): return BinaryText.base64(bytes)
        case .array(let list): return list.count == 1 ? list[0].scalar : nil
        case .object(let members):
            if let text = members.last(where: { $0.name == "#text" }) { return text.value.scalar }
            return members.allSatisfy { $0.name.hasPrefix("@") } ? "" : nil
        }
    }
}
