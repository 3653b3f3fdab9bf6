internal import Mapping
internal import Model

extension Workspace {
    /// Returns the faults of constants that do not fit the types of their attributes: every record would go to quarantine.
    static func misfits(in model: Model) -> [Diagnostic] {
        model.entities.flatMap { entity in
            (entity.attributes + entity.sources.flatMap(\.attributes)).flatMap { misfits(of: $0, in: entity) }
        }
    }

    private static func misfits(of attribute: Attribute, in entity: Entity) -> [Diagnostic] {
        guard case .constant(.string(let text)) = attribute.source, !fits(text, attribute.type) else { return [] }
        let shown = text.count > 60 ? String(text.prefix(60)) + "…" : text
        return [
            Diagnostic(
                location: attribute.location,
                message: "\"constant\" of \(entity.name).\(attribute.name) has a value that is not of the type "
                    + "\(attribute.type.rawValue): \"\(shown)\"",
                remedy: example(attribute.type))
        ]
    }

    private static func fits(_ text: String, _ type: AttributeType) -> Bool {
        guard type != .json else { return true }
        return (try? StoredValueConverter(from: nil, to: type).convert(.text(text))) != nil
    }

    /// Returns what to write as a value of a type, for the types that a text may not fit.
    private static func example(_ type: AttributeType) -> String? {
        switch type {
        case .date: "write a date such as 2026-01-31"
        case .timestamp: "write a time such as 2026-01-31T10:00:00Z"
        case .uuid: "write a UUID such as 2f1b8a52-6a1c-4f0e-9d3b-0c5a7e1d2f34"
        case .url: "write a URL such as https://example.com/"
        case .data: "write the bytes in base64"
        case .decimal: "write a number of at most \(DecimalText.maximumDigits) digits"
        case .text, .integer, .real, .boolean, .json: nil
        }
    }

    /// Returns the faults of entities with more columns than a table of the database can have.
    ///
    /// - Parameter most: The number of columns that a table can have, with those of the key counted twice; nil for no limit.
    static func tooWide(_ model: CompiledModel, most: Int?) -> [Diagnostic] {
        guard let most else { return [] }
        return model.entities.compactMap { layout in
            let limit = most - max(1, layout.key.count)
            guard layout.index == layout.root, layout.fields.count > limit else { return nil }
            return Diagnostic(
                location: model.model.entities[layout.index].location,
                message: "the table of \(layout.name) has \(layout.fields.count) columns, and can have \(limit)",
                remedy: "read members that belong together as one attribute of the type json, or let \"extra: true\" "
                    + "keep those that are rarely used")
        }
    }

    /// Returns the faults of entities whose keys have more attributes than the database can look for in one statement.
    ///
    /// - Parameter most: The number of attributes that a key can have; nil for no limit.
    static func tooLongKeys(_ model: CompiledModel, most: Int?) -> [Diagnostic] {
        guard let most else { return [] }
        return model.entities.compactMap { layout in
            guard layout.index == layout.root, layout.key.count > most else { return nil }
            return Diagnostic(
                location: model.model.entities[layout.index].location,
                message: "the key of \(layout.name) has \(layout.key.count) attributes, and can have \(most)",
                remedy: "name those that identify a record, or one attribute that joins their values with "
                    + "\"transform: {join: TEXT}\"")
        }
    }
}
