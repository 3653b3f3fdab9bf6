internal import BridgeJSON

/// The parameters of a request.
extension OpenAPIReader {
    /// Returns the parameters in the query.
    func parameters(of operation: JSONTree, _ item: JSONTree) -> [QueryParameter] {
        let own = (operation["parameters"]?.elements ?? []).map { document.resolve($0).value }
        let names = Set(own.compactMap { $0["name"]?.text })
        return described(operation, item).flatMap { parameter -> [QueryParameter] in
            guard parameter["in"]?.text == "query", let name = parameter["name"]?.text else { return [] }
            let isRequired = parameter["required"]?.bool ?? false
            if let members = members(of: parameter) {
                return members.properties.filter { !names.contains($0.name) }.map { name, schema in
                    self.parameter(
                        name, document.resolve(schema).value, nil,
                        isRequired: isRequired && members.required.contains(name))
                }
            }
            return [self.parameter(name, schema(of: parameter), parameter, isRequired: isRequired)]
        }
    }

    /// Returns the parameters of an operation as the document has them, and those of its path that it does not replace.
    func described(_ operation: JSONTree, _ item: JSONTree) -> [JSONTree] {
        let own = (operation["parameters"]?.elements ?? []).map { document.resolve($0).value }
        let names = Set(own.compactMap { $0["name"]?.text })
        let shared = (item["parameters"]?.elements ?? []).map { document.resolve($0).value }
            .filter { !names.contains($0["name"]?.text ?? "") }
        return own + shared
    }

    /// Returns the schema of a parameter; the parameter itself, which has its members in Swagger 2.
    func schema(of parameter: JSONTree) -> JSONTree {
        document.resolve(parameter["schema"] ?? media(parameter["content"])?["schema"] ?? parameter).value
    }

    /// Returns the members of an object that are parameters of their own (style form with explode, the default); nil
    /// for any other parameter.
    ///
    /// Springdoc describes Spring's `Pageable` like this.
    private func members(
        of parameter: JSONTree
    ) -> (properties: [(name: String, schema: JSONTree)], required: Set<String>)? {
        guard let schema = parameter["schema"], parameter["style"]?.text ?? "form" == "form",
            parameter["explode"]?.bool ?? true, document.shape(schema).isObject,
            case let members = SearchBody.properties(of: schema, in: document), !members.properties.isEmpty
        else { return nil }
        return members
    }

    /// - Parameter described: What the document says besides the schema; nil for a member of an object.
    private func parameter(
        _ name: String, _ schema: JSONTree, _ described: JSONTree?, isRequired: Bool
    ) -> QueryParameter {
        let items = schema["items"].map { document.resolve($0).value }
        var shape = document.shape(schema)
        if shape.values.isEmpty { shape.values = shape.element?.values ?? [] }
        let known = [schema["default"], described?["example"], schema["example"], items?["default"]]
        var value: JSONTree?
        for candidate in known.compactMap(\.self) where value == nil {
            value = sent(candidate, shape, separator: separator(of: described))
        }
        return QueryParameter(
            name: name, isRequired: isRequired, shape: shape, value: value, standard: schema["default"],
            maximum: schema["maximum"]?.integer, minimum: schema["minimum"]?.integer)
    }

    /// Returns a value as the query has it; nil for one that it cannot have.
    private func sent(_ value: JSONTree, _ shape: ValueShape, separator: String?) -> JSONTree? {
        switch value {
        case .null, .object: return nil
        case .bool, .number, .text: return shape.written(value)
        case .array(let elements):
            let written = elements.map { shape.element?.written($0) ?? $0 }
            let texts = written.compactMap(\.plainText)
            guard !texts.isEmpty, texts.count == written.count else { return nil }
            guard let separator else { return .array(written) }
            return .text(texts.joined(separator: separator))
        }
    }

    /// Returns what separates the elements of an array in one parameter; nil where the parameter is repeated for each.
    private func separator(of parameter: JSONTree?) -> String? {
        guard let parameter else { return nil }
        if document.isSwagger2 {
            switch parameter["collectionFormat"]?.text {
            case "multi": return nil
            case "ssv": return " "
            case "tsv": return "\t"
            case "pipes": return "|"
            default: return ","
            }
        }
        let style = parameter["style"]?.text ?? "form"
        // By default, the style form alone repeats the parameter.
        if parameter["explode"]?.bool ?? (style == "form") { return nil }
        switch style {
        case "spaceDelimited": return " "
        case "pipeDelimited": return "|"
        default: return ","
        }
    }

    /// Returns the shape of a variable of a path; nil if the document does not describe it.
    func shape(of variable: String, _ operation: JSONTree, _ item: JSONTree) -> ValueShape? {
        let parameter = described(operation, item).first {
            $0["in"]?.text == "path" && $0["name"]?.text == variable
        }
        return parameter.map { document.shape(schema(of: $0)) }
    }
}

extension ValueShape {
    /// Returns a value of the document as one of this shape: YAML without quotes has `007` and `1.10` for texts.
    func written(_ value: JSONTree) -> JSONTree {
        guard solid == [.string], case .number(let text) = value else { return value }
        return .text(text)
    }
}
