internal import Model

/// Fields that are made of several values, and the members that they read.
extension Transformations {
    /// Sets a field to several texts and values of the record, one after the other.
    func join(_ name: String, _ parts: [Template.Part]) throws {
        let between = Self.separator(parts)
        var paths: [ConfigValue] = []
        var read: [[String]] = []
        for (index, part) in parts.enumerated() {
            switch part {
            case .text where between != nil: continue
            case .text(let text):
                // It would be read as a variable.
                guard !text.contains("{") else { throw Untranslatable("only Python can compute it") }
                paths.append(.string(add(.string(text), as: "@\(name)_\(index)")))
            case .expression(let value) where value.unfiltered.isOfRecord:
                guard case .path(let names) = value.unfiltered else {
                    throw Untranslatable("only Python can compute it")
                }
                if case .filter(_, let filter, _) = value, filter != "string" {
                    draft.doubt("the field \(name): its parts are joined without the filter \(filter)", ofValues: true)
                }
                let path = try path(Array(names.dropFirst()))
                read.append(path)
                paths.append(.string(EntityDraft.path(path)))
            case .expression(let expression):
                paths.append(.string(add(.string(try text.variable(expression)), as: "@\(name)_\(index)")))
            }
        }
        guard paths.count > 1 else { throw Untranslatable("only Python can compute it") }
        replace(name, by: .attribute) { attribute in
            attribute.type = "text"
            attribute.path = .array(paths)
            attribute.constant = nil
            attribute.transform = ["join": .string(between ?? "")]
        }
        for path in read where path != [name] { keep(path, type: "text") }
    }

    private func add(_ value: ConfigValue, as member: String) -> String {
        draft.requestFields.removeAll { $0.key == member }
        draft.requestFields.append((member, value))
        return member
    }

    /// Returns the one text between each two values, or nil if other texts are around them.
    private static func separator(_ parts: [Template.Part]) -> String? {
        guard parts.count > 1, parts.count % 2 == 1, case .text(let separator) = parts[1] else { return nil }
        let isRegular = parts.enumerated().allSatisfy { index, part in
            if index % 2 == 1 { return part == .text(separator) }
            if case .expression = part { return true }
            return false
        }
        return isRegular ? separator : nil
    }

    /// Returns the texts and values that `~`, or `+` beside a text, joins.
    static func pieces(_ expression: Expression) throws -> [Template.Part] {
        var pieces: [Template.Part] = []
        func add(_ expression: Expression) throws {
            switch expression {
            case .binary("~", let left, let right):
                try add(left)
                try add(right)
            case .binary("+", let left, let right) where SliceText.isText(expression):
                try add(left)
                try add(right)
            case let value where value.known != nil:
                let more = value.known.map { $0 == .null ? "" : $0.printed } ?? ""
                if case .text(let text)? = pieces.last {
                    pieces[pieces.count - 1] = .text(text + more)
                } else if !more.isEmpty {
                    pieces.append(.text(more))
                }
            case .path, .filter, .input: pieces.append(.expression(expression))
            default: throw Untranslatable("only Python can compute {{ \(expression.text) }}")
            }
        }
        try add(expression)
        return pieces
    }

    /// Gives a member of the API's record that an added field reads a column of its own, as in Airbyte's record.
    ///
    /// The column `extra` has no member that an attribute reads.
    ///
    /// - Parameter type: The type of a member at the top; a member around a nested one is json.
    func keep(_ path: [String], type: String) {
        guard let member = path.first, !member.hasPrefix("@"), draft.members.origin(of: [member]) == .path([member])
        else { return }
        let own = ConfigValue.string(EntityDraft.path([member]))
        guard !draft.attributes.contains(where: { $0.member == member || $0.member == nil && $0.path == own }) else {
            return
        }
        let type = path.count == 1 ? type : "json"
        // The field that reads it may take an empty text for no value.
        let transform: ConfigValue? = ["text", "json"].contains(type) ? nil : "empty_as_null"
        let column = draft.columns.claim(LocalNames.identifier(member))
        draft.attributes.append(
            EntityDraft.Attribute(name: column, type: type, path: own, transform: transform, member: member))
    }
}
