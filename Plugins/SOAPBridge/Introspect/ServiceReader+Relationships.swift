/// What of a record is another entity's object.
extension ServiceReader {
    /// Elements of another entity's type, and those named like the key of one.
    func relate(_ offers: inout [ServiceOffer]) {
        let targets = offers.filter { $0.obstacles.isEmpty && $0.key != nil }
        for index in offers.indices {
            relateKeys(of: &offers[index], to: targets)
            for (child, inner, confidence) in offers[index].nested {
                add(child, inner, confidence, to: &offers[index], targets)
            }
        }
    }

    private func relateKeys(of offer: inout ServiceOffer, to targets: [ServiceOffer]) {
        for field in offer.fields where field.path != [offer.key ?? ""] && field.path.count == 1 {
            let words = NameWords.split(field.path[0])
            guard words.count > 1, let last = words.last, ["id", "code", "key", "token"].contains(last) else {
                continue
            }
            let stem = words.dropLast().joined()
            guard let target = targets.first(where: { NameWords.plain($0.name) == stem }), let key = target.key,
                NameWords.plain(key) == last || NameWords.plain(key) == stem + last,
                target.fields.first(where: { $0.path == [key] })?.type == field.type
            else { continue }
            offer.fields.removeAll { $0.path == field.path }
            offer.relationships.append(
                .init(
                    name: String(field.path[0].drop { $0 == "@" }.dropLast(last.count)), target: target.name,
                    isToMany: false, path: field.path,
                    confidence: ("medium", "named like the key of \(target.name)")))
        }
    }

    private func add(
        _ child: SchemaElement, _ inner: ComplexType?, _ confidence: (String, String), to offer: inout ServiceOffer,
        _ targets: [ServiceOffer]
    ) {
        var (type, path, isArray) = (child.type, [child.name.local], child.isRepeated)
        if case .complex(let wrapper) = schemas[child.type], wrapper.children.count == 1,
            wrapper.children[0].isRepeated, wrapper.attributes.isEmpty
        {
            isArray = true
            type = wrapper.children[0].type
            // A SOAP-ENC array is a list by itself, whatever its members are called.
            if !wrapper.isArray { path.append(wrapper.children[0].name.local) }
        }
        if let target = targets.first(where: { $0.type == type }) {
            offer.relationships.append(
                .init(
                    name: child.name.local, target: target.name, isToMany: isArray, path: path,
                    confidence: ("high", "of the type of \(target.name)")))
        } else if let inner, !isArray {
            for element in inner.children {
                guard let text = simple(element) else { continue }
                offer.fields.append(
                    .init(path: [child.name.local, element.name.local], type: text, confidence: confidence))
            }
        } else {
            offer.fields.append(.init(path: [child.name.local], type: "json", confidence: confidence))
        }
    }
}
