extension ConfigurationReader {
    /// Reads `absent: null`, `keep` or `auto`; returns nil if it is missing or invalid.
    mutating func readAbsent(_ members: [Member], _ what: String) -> AbsentRule? {
        guard let member = members.first(where: { $0.name == "absent" }) else { return nil }
        if member.value.isNull { return .null }
        guard let name = text(member, of: what) else { return nil }
        if let rule = AbsentRule(rawValue: name) { return rule }
        error(
            at: member.value.mark, "unknown \"absent\" \(quoted(name)) of \(what)",
            suggestion(for: name, among: AbsentRule.allCases.map(\.rawValue)))
        return nil
    }
}
