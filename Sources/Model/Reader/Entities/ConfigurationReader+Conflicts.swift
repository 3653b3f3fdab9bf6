extension ConfigurationReader {
    /// Reads `manual`, `remote`, `local` or `{newest: ATTRIBUTE}`.
    ///
    /// The name is checked once the whole model is known.
    mutating func readConflicts(_ member: Member, _ what: String, into read: inout ReadEntity) {
        guard case .mapping = member.value.content else {
            guard let name = text(member, of: what) else { return }
            if let known = ConflictsKeys.policies.first(where: { $0.name == name }) {
                read.entity.conflicts = known.policy
            } else {
                error(
                    at: member.value.mark, "unknown value \(quoted(name)) of \"conflicts\" of \(what)",
                    "write manual, remote, local, or {newest: ATTRIBUTE}")
            }
            return
        }
        let subject = "\"conflicts\" of \(what)"
        guard let section = section(member.value, ConflictsKeys.shape, subject),
            let newest = required(ConflictsKeys.newest, of: section, at: member.key.mark),
            let name = text(newest, of: subject)
        else { return }
        read.newestMark = newest.value.mark
        read.entity.conflicts = .newest(attribute: name)
    }

    /// Checks the attribute that decides which side is newer.
    mutating func checkConflicts(of read: ReadEntity, _ what: String, _ model: Model) {
        guard case .newest(let name) = read.entity.conflicts, let mark = read.newestMark else { return }
        let attributes = model.attributes(of: read.entity)
        guard let attribute = attributes.first(where: { $0.name == name }) else {
            error(
                at: mark, "\"conflicts\" of \(what) names the unknown attribute \(quoted(name))",
                suggestion(for: name, among: attributes.map(\.name), what: "attributes"))
            return
        }
        guard attribute.type != .timestamp else { return }
        error(
            at: mark, "\"conflicts\" of \(what) names \(quoted(name)), which is \(attribute.type.rawValue)",
            "name a timestamp: it is compared with the time of the edit")
    }
}
