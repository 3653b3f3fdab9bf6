extension ConfigurationReader {
    /// Reads `metadata: {NAME: PATH, ...}`: what a record says about its list of a relationship to many.
    mutating func readMetadata(_ member: Member, _ what: String, into relationship: inout Relationship) {
        let subject = "\"metadata\" of \(what)"
        guard relationship.kind == .toMany else {
            error(
                at: member.key.mark, "\(subject), which leads to one",
                "remove it; an attribute reads what a record says about one object")
            return
        }
        guard let values = members(of: member.value, subject, at: member.value.mark) else { return }
        let limit = RelationshipKeys.maxMetadata
        guard !values.isEmpty, values.count <= limit else {
            error(
                at: member.value.mark,
                values.isEmpty ? "\(subject) is empty" : "\(subject) has more than \(limit) names",
                "write up to \(limit) names, each with a path: {total: PATH, next: PATH}")
            return
        }
        for value in values {
            guard Naming.isIdentifier(value.name) else {
                error(
                    at: value.key.mark, "\(quoted(value.name)) is not a valid name in \(subject)",
                    "use letters A-Z and a-z, digits and _, and do not begin with a digit")
                continue
            }
            guard let path = path(value, subject) else { continue }
            if let fault = Self.fault(of: path, besides: relationship.source) {
                error(
                    at: value.value.mark,
                    "\(quoted(value.name)) of \(subject) \(fault.message): \(quoted(path.description))", fault.remedy)
                continue
            }
            relationship.metadata.append(Relationship.Metadata(name: value.name, path: path))
        }
    }

    /// Returns why a path does not lead beside a list, with a remedy; nil if it does.
    private static func fault(of path: RemotePath, besides list: RemotePath) -> (message: String, remedy: String)? {
        if path.isOfSurroundings {
            return ("reads what is around the record", "name a path in the record that has the list")
        }
        if path.components.starts(with: list.components) {
            return (
                "leads into the list itself",
                "say with \"from\" where the list is, such as \"from: \(list).data\", or name a path beside the list"
            )
        }
        if list.components.starts(with: path.components) {
            return ("contains the list itself", "name one value beside the list, such as \(path).total")
        }
        return nil
    }

    /// Refuses `metadata` of a list that requests of its own return, and that no `from` says to be nested as well.
    mutating func checkMetadata(
        of relationship: Relationship, in read: ReadEntity, _ target: Entity, _ model: Model, _ what: String
    ) {
        guard let mark = read.metadataMarks[relationship.name], !relationship.metadata.isEmpty,
            let parent = model.scanned(target).parent?.relationship,
            model.inverse(of: relationship, in: read.entity)?.relationship.name == parent
        else { return }
        error(
            at: mark,
            "\"metadata\" of \(what), whose list is not nested in a record: the listing of \(quoted(target.name)) by "
                + "\(quoted(parent)) returns it",
            "remove it, and read the metadata of that listing with \"fetchesIncluded\"; or, if the records have the list "
                + "too, say where with \"from\"")
    }
}
