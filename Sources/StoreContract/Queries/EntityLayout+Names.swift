package import Mapping
internal import Model

extension CompiledModel {
    /// Returns the index of an entity.
    ///
    /// - Throws: ``StoreError`` of code `request` for an unknown entity.
    package func knownIndex(of entity: String) throws -> Int {
        guard let index = index(of: entity) else {
            throw StoreError(
                .request, "there is no entity \"\(entity)\"",
                remedy: "there are: \(entities.map(\.name).joined(separator: ", "))")
        }
        return index
    }
}

extension EntityLayout {
    /// Returns the place of a column among the entity's ``columns``.
    ///
    /// - Throws: ``StoreError`` of code `request` for an unknown name.
    package func columnPlace(of name: String) throws -> Int {
        guard let place = columns.firstIndex(where: { $0.name == name }) else { throw unknown(name) }
        return place
    }

    /// Returns the place of a column of the entity among the ``fields`` of its table.
    ///
    /// - Throws: ``StoreError`` of code `request` for an unknown name.
    package func fieldPlace(of name: String) throws -> Int {
        guard columns.contains(where: { $0.name == name }), let place = fields.firstIndex(where: { $0.name == name })
        else { throw unknown(name) }
        return place
    }

    /// The places of the entity's columns among the ``fields`` of its table.
    package var columnPlaces: [Int] {
        let names = Set(columns.map(\.name))
        return fields.indices.filter { names.contains(fields[$0].name) }
    }

    private func unknown(_ name: String) -> StoreError {
        StoreError(
            .request, "\(self.name) has no field \"\(name)\"",
            remedy: "there are: \(columns.map(\.name).joined(separator: ", "))")
    }

    /// Parses the values of an object's key.
    ///
    /// - Parameter texts: One text per attribute of the key, in order; bytes as base64.
    /// - Throws: ``StoreError`` of code `request` for a text that is not of the attribute's type.
    package func keyValues(from texts: [String]) throws -> [StoredValue] {
        try zip(keyFields, texts).map { field, text in
            try LocalCondition(field: field.name, comparison: .equal, value: text).operand(for: field, of: self)
        }
    }
}
