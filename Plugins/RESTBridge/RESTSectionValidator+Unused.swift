internal import BridgeKit

/// Finds members of the section that change no request, and those that keep the entity's from changing any.
extension RESTSectionValidator {
    /// Returns warnings of times and lists whose variables the section does not use.
    ///
    /// What the section has from its bridge's section or the file's defaults may be for other entities.
    func unusedFaults() -> [SectionFault] {
        var faults: [SectionFault] = []
        let own = Set(request.section.names).subtracting(request.inheritedMembers)
        // A listing up to a time needs no beginning.
        if own.contains("since"), !["since", "until"].contains(where: { SliceRule.names($0, in: request.section) }) {
            faults.append(
                SectionFault(
                    key: "since", message: "since: the section does not use {since} or {until}",
                    remedy: "put {since} where the API takes the first time, such as "
                        + "query: {updated_since: \"{since}\"}, or remove since", isWarning: true))
        }
        let lists = own.contains("each") ? request.section.object("each")?.names ?? [] : []
        faults += lists.filter { !SliceRule.names($0, in: request.section) }.map { name in
            SectionFault(
                key: "each.\(name)", message: "each.\(name): the section does not use {\(name)}",
                remedy:
                    "put {\(name)} where the API takes it, such as query: {\(name): \"{\(name)}\"}, or remove the list",
                isWarning: true)
        }
        return faults
    }

    /// Returns a warning of several listings, if the entity's scans go on from a token: they return none.
    func tokenFault() -> SectionFault? {
        guard request.token != nil, let slices = try? RESTSection.slices(request, parameters: parameters),
            slices.count > 1
        else { return nil }
        return SectionFault(
            key: ["each", "split"].first { request.section.has($0) } ?? "since.window",
            message: "incremental: token has no effect, since each, split and since.window make several listings, and "
                + "a token or validators belong to a whole one: each sync fetches everything",
            remedy: "remove incremental, or give each listing an entity or source of its own", isWarning: true)
    }
}
