internal import Model

/// Filters of a field's value.
extension Transformations {
    /// Applies a filter to a field that reads the value already.
    ///
    /// - Parameter isGuarded: Whether the field has no value where the record has none.
    func apply(_ filter: String, of value: Expression, to name: String, isGuarded: Bool) {
        switch filter {
        case "trim": transform(name, by: "trim", loss: "white space around it is not removed")
        case "lower", "upper":
            transform(name, by: filter == "lower" ? "lowercase" : "uppercase", loss: "its case is not changed")
            if !isGuarded {
                let word = filter == "lower" ? "none" : "NONE"
                draft.doubt("the field \(name): where a record has null, Airbyte has the text \(word)", ofValues: true)
            }
        case "int", "float":
            // With a default, such as the present time, a number is there anyway.
            if case .binary("or", _, let other) = value, !other.lastAlternative.isOfRecord { return }
            if !isGuarded {
                draft.doubt("the field \(name): Airbyte takes 0 where a record has no number", ofValues: true)
            }
        case "list": draft.doubt("the field \(name): the filter list is not applied", ofValues: true)
        default: break
        }
    }

    private func transform(_ name: String, by step: ConfigValue, loss: String) {
        // A field that is set to its own value has an attribute only if the schema names it.
        replace(name, by: .attribute) { _ in }
        guard let found = draft.attributes.firstIndex(where: { $0.member == name }) else { return }
        guard draft.attributes[found].type == "text" else {
            draft.doubt("the field \(name): \(loss)", ofValues: true)
            return
        }
        switch draft.attributes[found].transform {
        case nil: draft.attributes[found].transform = step
        case .array(let steps)?: draft.attributes[found].transform = .array(steps + [step])
        case let other?: draft.attributes[found].transform = .array([other, step])
        }
    }
}

extension Expression {
    /// The last one of several alternatives.
    fileprivate var lastAlternative: Expression {
        if case .binary("or", _, let other) = self { other.lastAlternative } else { self }
    }
}
