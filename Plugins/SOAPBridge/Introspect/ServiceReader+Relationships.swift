internal import BridgeKit
internal import Inference

/// Finds the members of a record that are relationships to other entities.
extension ServiceReader {
    /// Adds relationships for elements of another entity's type, and for elements named like another entity's key.
    func relate(_ offers: inout [ServiceOffer]) {
        let targets = offers.filter { $0.isReady && $0.key != nil }
        let byName = Dictionary(targets.map { (NameWords.plain($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        let byType = Dictionary(targets.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
        for index in offers.indices {
            relateKeys(of: &offers[index], to: byName)
            for nested in offers[index].nested { add(nested, to: &offers[index], byType) }
        }
    }

    private func relateKeys(of offer: inout ServiceOffer, to targets: [String: ServiceOffer]) {
        for field in offer.fields where field.path != [offer.key ?? ""] && field.path.count == 1 {
            let words = NameWords.lower(field.path[0])
            guard words.count > 1, let last = words.last, ["id", "code", "key", "token"].contains(last) else {
                continue
            }
            let stem = words.dropLast().joined()
            guard let target = targets[stem], let key = target.key,
                NameWords.plain(key) == last || NameWords.plain(key) == stem + last,
                target.fields.first(where: { $0.path == [key] })?.type == field.type
            else { continue }
            offer.fields.removeAll { $0.path == field.path }
            offer.relationships.append(
                .init(
                    name: String(field.path[0].drop { $0 == "@" }.dropLast(last.count)), target: target.name,
                    isToMany: false, path: field.path,
                    confidence: .medium("named like the key of \(target.name)")))
        }
    }

    private func add(_ nested: ServiceOffer.Nested, to offer: inout ServiceOffer, _ targets: [TypeID: ServiceOffer]) {
        let (child, confidence) = (nested.element, nested.confidence)
        var (type, path, isArray) = (child.type, [nested.name], child.isRepeated)
        if case .complex(let wrapper) = schemas[child.type], wrapper.children.count == 1,
            wrapper.children[0].isRepeated, wrapper.attributes.isEmpty
        {
            isArray = true
            type = wrapper.children[0].type
            // A SOAP-ENC array is itself a list, regardless of its members' names.
            if !wrapper.isArray { path.append(wrapper.children[0].name.local) }
        }
        if let target = targets[type] {
            offer.relationships.append(
                .init(
                    name: child.name.local, target: target.name, isToMany: isArray, path: path,
                    confidence: .high("of the type of \(target.name)")))
        } else if let inner = nested.inner, !isArray {
            for (element, name) in zip(inner.children, inner.memberNames) {
                guard let text = simple(element) else { continue }
                offer.fields.append(.init(path: [nested.name, name], type: text, confidence: confidence))
            }
        } else {
            offer.fields.append(.init(path: [nested.name], type: "json", confidence: confidence))
        }
    }

    // MARK: Parents

    /// Makes a listing that needs the key of another entity's object a child of that entity: it is scanned once per
    /// object.
    func adopt(_ offers: inout [ServiceOffer]) {
        let parents = offers.filter { $0.isReady && $0.key != nil }
        for index in offers.indices where offers[index].missing.count == 1 && offers[index].obstacles.isEmpty {
            guard let operation = port.operations.first(where: { $0.name == offers[index].operation }),
                split(operation).verb == .reads,
                let element = arguments(of: operation).first(where: {
                    offers[index].missing[0].hasSuffix("/" + $0.name.local)
                }), let type = simple(element), let target = parent(parents, of: element, type), let key = target.key,
                let first = target.name.first
            else { continue }
            let name = first.lowercased() + target.name.dropFirst()
            guard !offers[index].fields.contains(where: { $0.path[0] == name }),
                !offers[index].relationships.contains(where: { $0.name == name })
            else { continue }
            offers[index].relationships.append(
                .init(
                    name: name, target: target.name, isToMany: false, path: [],
                    confidence: .medium("\(element.name.local) looks like the key of \(target.name)")))
            offers[index].parent = (name, element.name.local, String(key.drop { $0 == "@" }))
            offers[index].missing = []
        }
    }

    /// Returns the entity whose key an argument is named after: for `ProfileToken`, the Profile with a token.
    private func parent(_ parents: [ServiceOffer], of element: SchemaElement, _ type: String) -> ServiceOffer? {
        let words = NameWords.lower(element.name.local)
        guard words.count > 1, let last = words.last else { return nil }
        let stem = words.dropLast().joined()
        return parents.first { parent in
            guard let key = parent.key,
                key.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "@_".contains($0)) }),
                parent.fields.first(where: { $0.path == [key] })?.type == type
            else { return false }
            let plain = NameWords.plain(key)
            return plain == stem + last || (plain == last && NameWords.plain(parent.name) == stem)
        }
    }
}
