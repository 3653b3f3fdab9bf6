internal import BridgeJSON

/// The parameters in the query of a request.
extension OpenAPIReader {
    func parameters(of operation: JSONTree, _ item: JSONTree) -> [QueryParameter] {
        let own = (operation["parameters"]?.elements ?? []).map { document.resolve($0).value }
        let names = Set(own.compactMap { $0["name"]?.text })
        let shared = (item["parameters"]?.elements ?? []).map { document.resolve($0).value }
            .filter { !names.contains($0["name"]?.text ?? "") }
        return (own + shared).flatMap { parameter -> [QueryParameter] in
            guard parameter["in"]?.text == "query", let name = parameter["name"]?.text else { return [] }
            let isRequired = parameter["required"]?.bool ?? false
            if let members = members(of: parameter) {
                return members.properties.filter { !names.contains($0.name) }.map { name, schema in
                    self.parameter(
                        name, document.resolve(schema).value, nil,
                        isRequired: isRequired && members.required.contains(name))
                }
            }
            let schema = document.resolve(parameter["schema"] ?? media(parameter["content"])?["schema"] ?? parameter)
            return [self.parameter(name, schema.value, parameter["example"], isRequired: isRequired)]
        }
    }

    /// Returns the members of an object that are parameters of their own (style form with explode, the default); nil for any
    /// other parameter.
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

    private func parameter(
        _ name: String, _ schema: JSONTree, _ example: JSONTree?, isRequired: Bool
    ) -> QueryParameter {
        let items = schema["items"].map { document.resolve($0).value }
        var shape = document.shape(schema)
        if shape.values.isEmpty { shape.values = shape.element?.values ?? [] }
        return QueryParameter(
            name: name, isRequired: isRequired, shape: shape,
            value: [schema["default"], example, schema["example"], items?["default"]].lazy.compactMap(\.self).first,
            maximum: schema["maximum"]?.integer, minimum: schema["minimum"]?.integer)
    }
}
