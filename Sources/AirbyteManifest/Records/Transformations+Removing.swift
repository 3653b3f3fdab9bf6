internal import Model

/// Removal of members.
extension Transformations {
    func remove(_ transformation: ConfigValue, _ scope: Scope) {
        let condition = transformation["condition"]?.string ?? ""
        for pointer in transformation["field_pointers"]?.array ?? [] {
            let path = (pointer.array ?? [pointer]).compactMap { try? Template($0.printed, scope).known?.printed }
            if !condition.isEmpty {
                remove(path, if: condition)
            } else if path.count == 1, !path[0].contains(where: { "*?[".contains($0) }) {
                remove(path[0])
            } else {
                keep("RemoveFields \(path.joined(separator: ".")): its column keeps it", at: path)
            }
        }
    }

    private func remove(_ member: String) {
        draft.attributes.removeAll { $0.member == member && !draft.key.contains($0.name) }
        draft.members.set(member, .lost)
        let path = ConfigValue.string(EntityDraft.path([member]))
        let isRead = draft.attributes.contains { $0.path == path || $0.path?.array?.contains(path) == true }
        draft.note(
            "the connector removes \(member); "
                + (isRead ? "another attribute reads it" : "only the column extra has it"))
    }

    /// Members that are removed where they are empty texts become null; inside of json they stay.
    private func remove(_ path: [String], if condition: String) {
        let tests = ["property == ''", "property|string == ''", "not property|string"]
        let test = condition.replacing("{{", with: "").replacing("}}", with: "").replacing("\"", with: "'")
        guard tests.contains(Functions.trimmed(test).replacing(" | ", with: "|")) else {
            keep("RemoveFields \(path.joined(separator: ".")) if \(condition): bmo keeps the members", at: path)
            return
        }
        for index in draft.attributes.indices {
            let attribute = draft.attributes[index]
            guard attribute.constant == nil, attribute.transform == nil, !draft.key.contains(attribute.name),
                let member = attribute.member, path == ["**"] || path == [member] || path == ["*"]
            else { continue }
            draft.attributes[index].transform = "empty_as_null"
        }
        if path.contains("**") || path.count > 1 {
            keep("RemoveFields: empty texts stay inside of columns of the type json", at: path)
        }
    }

    /// Reports members that bmo keeps; a column that is not in the configuration cannot differ.
    private func keep(_ text: String, at path: [String]) {
        let first = path.first ?? ""
        let isAny = first.contains { "*?[".contains($0) }
        let isNested = path.count > 1 || first == "**"
        let differs = draft.attributes.contains { attribute in
            (isAny || attribute.member == first) && (!isNested || attribute.type == "json")
        }
        if differs { draft.doubt(text, ofValues: true) } else { draft.note(text) }
    }
}
