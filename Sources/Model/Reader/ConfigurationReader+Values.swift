extension ConfigurationReader {
    /// Reads a name of an enumeration; reports a fault and returns nil for anything else.
    mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ member: Member, of what: String, _ type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let name = text(member, of: what) else { return nil }
        if let choice = Choice(rawValue: name) { return choice }
        error(
            at: member.value.mark, "unknown value \(quoted(name)) of \(quoted(member.name)) of \(what)",
            suggestion(for: name, among: Choice.allCases.map(\.rawValue)))
        return nil
    }

    /// Reads true or false.
    mutating func flag(_ member: Member, of what: String) -> Bool? {
        if case .bool(let value) = member.value.scalar { return value }
        error(
            at: member.value.mark,
            "\(quoted(member.name)) of \(what) must be true or false, not \(member.value.kind.rawValue)",
            "write \(shortened(member.name)): true, or false")
        return nil
    }

    /// Reads an integer in a range.
    mutating func integer(_ member: Member, of what: String, in range: ClosedRange<Int64>) -> Int64? {
        if case .int(let value) = member.value.scalar, range.contains(value) { return value }
        let bounds =
            range.upperBound == .max
            ? "an integer from \(range.lowerBound)" : "an integer from \(range.lowerBound) to \(range.upperBound)"
        error(at: member.value.mark, "\(quoted(member.name)) of \(what) must be \(bounds)", nil)
        return nil
    }

    /// Reads a duration such as `90s`, `5m`, `2h`, `7d` or `1w`, in seconds.
    mutating func seconds(_ member: Member, of what: String) -> Int64? {
        if let seconds = Self.seconds(Substring(member.value.scalarText ?? "")) { return seconds }
        error(
            at: member.value.mark, "\(quoted(member.name)) of \(what) is not a span of time",
            "write a number and s, m, h, d or w, such as 5m or 7d")
        return nil
    }

    static func seconds(_ text: Substring) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()), number >= 0,
            number <= 10_000_000_000 / unit
        else { return nil }
        return number * unit
    }

    /// Reads a name or a list of names, each with its mark; reports a fault and returns nil for anything else.
    mutating func names(_ member: Member, of what: String) -> [(name: String, mark: YAMLMark)]? {
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        var names: [(name: String, mark: YAMLMark)] = []
        for node in nodes {
            guard let name = node.scalarText, !node.isNull, !name.isEmpty else {
                error(
                    at: node.mark,
                    "\(quoted(member.name)) of \(what) must be a name or a list of names, not \(node.kind.rawValue)",
                    nil
                )
                return nil
            }
            names.append((name, node.mark))
        }
        return names
    }

    /// Reads a value or a list of values, as the texts that a record may have; reports a fault and returns nil for
    /// anything else.
    private mutating func texts(_ member: Member, of what: String) -> [String]? {
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        var texts: [String] = []
        for node in nodes {
            guard let text = node.scalarText, !node.isNull else {
                error(
                    at: node.mark,
                    "\(quoted(member.name)) of \(what) must be a value or a list of values, not \(node.kind.rawValue)",
                    node.isNull ? "write {lacks: PATH} for what is null or missing; an empty text is \"\"" : nil)
                return nil
            }
            texts.append(text)
            // A record of JSON has `true`, and one of a table the text `True` as it is written here.
            if case .bool(let value)? = node.scalar, text != "\(value)" { texts.append("\(value)") }
        }
        return texts
    }

    /// Reads a matcher: a condition, or a list of conditions that must all hold.
    mutating func matcher(_ member: Member, of what: String) -> Matcher? {
        let subject = "\(quoted(member.name)) of \(what)"
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        let conditions = nodes.compactMap { condition($0, subject) }
        guard conditions.count == nodes.count else { return nil }
        guard !conditions.isEmpty else {
            error(at: member.value.mark, "\(subject) is empty", "give at least one condition, such as {has: breed}")
            return nil
        }
        return Matcher(conditions)
    }

    private mutating func condition(_ node: YAMLNode, _ subject: String) -> Matcher.Condition? {
        let remedy =
            "write {has: PATH}, {lacks: PATH}, {property: PATH, equals: VALUE} or {property: PATH, matches: REGEX}"
        guard case .mapping = node.content, let members = members(of: node, subject, at: node.mark) else {
            error(at: node.mark, "a condition in \(subject) must be a mapping, not \(node.kind.rawValue)", remedy)
            return nil
        }
        let before = diagnostics.count
        report(unknown: members, valid: ConditionKeys.shape.names, of: "a condition in \(subject)")
        guard diagnostics.count == before else { return nil }
        let section = Section(members: members, what: subject)
        switch Set(members.map(\.name)) {
        case [ConditionKeys.has.name]: return value(ConditionKeys.has, of: section).map { .has($0) }
        case [ConditionKeys.lacks.name]: return value(ConditionKeys.lacks, of: section).map { .lacks($0) }
        case [ConditionKeys.property.name, ConditionKeys.equals.name]:
            guard let path = value(ConditionKeys.property, of: section), let equals = section[ConditionKeys.equals],
                let values = texts(equals, of: subject)
            else { return nil }
            if values.isEmpty { error(at: equals.value.mark, "\"equals\" of \(subject) is empty", "give a value") }
            return .equals(path, values)
        case [ConditionKeys.property.name, ConditionKeys.matches.name]:
            guard let path = value(ConditionKeys.property, of: section), let matches = section[ConditionKeys.matches],
                let pattern = text(matches, of: subject)
            else { return nil }
            do throws(RegularExpressionFault) {
                return .matches(path, try RegularExpression(pattern))
            } catch {
                self.error(
                    at: matches.value.mark, "\"matches\" of \(subject) is not a regular expression: \(error.reason)",
                    "write a POSIX extended one, such as \"^dog\"")
                return nil
            }
        case [CodeKeys.name.name]: return value(CodeKeys.name, of: section).map { .code($0) }
        default:
            error(at: node.mark, "a condition in \(subject) is not of one of the kinds", remedy)
            return nil
        }
    }
}
