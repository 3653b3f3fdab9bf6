internal import Importer
internal import Mapping
internal import Model

/// Warnings for attributes whose path is absent from every record.
struct AbsentPathWarnings {
    /// Attributes that read a path, with their fields in the entity's layout.
    let reads: [(field: Int, name: String, path: RemotePath)]

    init(_ attributes: [Attribute], in layout: EntityLayout) {
        reads = attributes.compactMap { attribute in
            guard case .path(let path) = attribute.source,
                let field = layout.fields.firstIndex(where: { $0.name == attribute.name && $0.relationship == nil })
            else { return nil }
            return (field, attribute.name, path)
        }
    }

    /// Returns a line for each, with the nearest path that the records do have.
    ///
    /// - Parameters:
    ///   - which: The records, such as `250 records`.
    ///   - likelyOnly: Omits paths that may be absent because they are optional: a misspelt one leaves a member of the
    ///     records unread.
    func warnings(of present: PresentFields, which: String, likelyOnly: Bool = false) -> [String] {
        guard present.records > 0, !likelyOnly || !present.others.isEmpty else { return [] }
        let absent = Set(present.missing)
        return reads.filter { absent.contains($0.field) }.map { read in
            let words = "attribute \"\(read.name)\" reads \"\(read.path)\", and none of the \(which) has anything there"
            return words + (Self.hint(read.path, among: present.others).map { "; \($0)" } ?? "")
        }
    }

    private static func hint(_ path: RemotePath, among others: Set<String>) -> String? {
        // Unread paths end at the first name that nothing reads: compare at that depth, and keep the rest of the path.
        for depth in 1...path.components.count {
            let beginning = RemotePath(Array(path.components.prefix(depth))).description
            let alike = others.filter { (RemotePath($0)?.components.count ?? 0) == depth }
            guard let near = nearest(to: beginning, among: alike.sorted()) else { continue }
            let rest = path.components.dropFirst(depth)
            let whole = rest.isEmpty ? near : near + "." + RemotePath(Array(rest)).description
            return "did you mean \"\(whole)\"?"
        }
        guard !others.isEmpty else { return nil }
        let list = others.sorted()
        return
            "no attribute reads what they have at: \(list.prefix(12).joined(separator: ", "))\(list.count > 12 ? ", ..." : "")"
    }
}
