extension ConfigurationReader {
    /// Reads `manual`, `remote`, `local` or `{newest: ATTRIBUTE}`.
    ///
    /// The name is checked once the whole model is known.
    mutating func readConflicts(_ member: Member, _ what: String, into read: inout ReadEntity) {
        guard case .mapping = member.value.content else {
            guard let name = text(member, of: what) else { return }
            switch name {
            case "manual": read.entity.conflicts = .manual
            case "remote": read.entity.conflicts = .remote
            case "local": read.entity.conflicts = .local
            default:
                error(
                    at: member.value.mark, "unknown value \(quoted(name)) of \"conflicts\" of \(what)",
                    "write manual, remote, local, or {newest: ATTRIBUTE}")
            }
            return
        }
        let subject = "\"conflicts\" of \(what)"
        guard let members = members(of: member.value, subject, at: member.value.mark) else { return }
        report(unknown: members, valid: ["newest"], of: subject)
        guard let newest = members.first(where: { $0.name == "newest" }) else {
            error(at: member.key.mark, "missing key \"newest\" of \(subject)", "add the name of an attribute")
            return
        }
        guard let name = text(newest, of: subject) else { return }
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
