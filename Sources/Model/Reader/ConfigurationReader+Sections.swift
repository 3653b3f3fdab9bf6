extension ConfigurationReader {
    /// The members of a mapping whose keys a ``Shape`` describes.
    struct Section {
        var members: [Member]
        /// The mapping's name in messages.
        var what: String

        /// The member with this key; nil if it is missing.
        subscript<Value>(_ key: Key<Value>) -> Member? { self[key as any DescribedKey] }

        /// The member with this key; nil if it is missing.
        subscript(_ key: any DescribedKey) -> Member? { members.first { $0.name == key.name } }
    }

    /// Opens a mapping, and reports keys that its shape lacks; reports a fault and returns nil for anything else.
    mutating func section(_ node: YAMLNode, _ shape: Shape, _ what: String) -> Section? {
        guard let members = members(of: node, what, at: node.mark) else { return nil }
        report(unknown: members, valid: shape.names, of: what)
        return Section(members: members, what: what)
    }

    /// Returns the member with a required key; reports a fault and returns nil if it is missing.
    mutating func required<Value>(_ key: Key<Value>, of section: Section, at mark: YAMLMark) -> Member? {
        if let member = section[key] { return member }
        error(at: mark, "missing key \(quoted(key.name)) of \(section.what)", key.remedy)
        return nil
    }
}

/// The values of a section: nil if the key is missing or its value is invalid, which is reported.
extension ConfigurationReader {
    mutating func value(_ key: Key<String>, of section: Section) -> String? {
        guard let member = section[key] else { return nil }
        return text(member, of: section.what)
    }

    mutating func value(_ key: Key<Bool>, of section: Section) -> Bool? {
        guard let member = section[key] else { return nil }
        return flag(member, of: section.what)
    }

    mutating func value(_ key: Key<Int64>, of section: Section) -> Int64? {
        guard let member = section[key] else { return nil }
        return integer(member, of: section.what, in: key.range)
    }

    mutating func value(_ key: Key<Duration>, of section: Section) -> Duration? {
        guard let member = section[key] else { return nil }
        return seconds(member, of: section.what).map { .seconds($0) }
    }

    mutating func value(_ key: Key<RemotePath>, of section: Section) -> RemotePath? {
        guard let member = section[key] else { return nil }
        return path(member, section.what)
    }

    mutating func value(_ key: Key<Matcher>, of section: Section) -> Matcher? {
        guard let member = section[key] else { return nil }
        return matcher(member, of: section.what)
    }

    mutating func value<Choice: RawRepresentable & CaseIterable>(
        _ key: Key<Choice>, of section: Section
    ) -> Choice? where Choice.RawValue == String {
        guard let member = section[key] else { return nil }
        return choice(member, of: section.what, Choice.self)
    }

    /// Reads `null`, `keep` or `auto`.
    mutating func value(_ key: Key<AbsentRule>, of section: Section) -> AbsentRule? {
        guard let member = section[key] else { return nil }
        if member.value.isNull { return .null }
        guard let name = text(member, of: section.what) else { return nil }
        if let rule = AbsentRule(rawValue: name) { return rule }
        error(
            at: member.value.mark, "unknown \"absent\" \(quoted(name)) of \(section.what)",
            suggestion(for: name, among: AbsentRule.allCases.map(\.rawValue)))
        return nil
    }
}
