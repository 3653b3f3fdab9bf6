extension ConfigurationReader {
    /// The state of an entity's automatic attributes.
    enum AutomaticAttributes {
        /// The configuration declares the attributes.
        case none
        /// They are in the file of ``LearnedAttributes``.
        case learned
        /// No sync has seen a record yet.
        case unknown
    }

    /// Replaces `attributes: auto` by the learned attributes.
    mutating func readAutomatic(_ members: inout [Member], of entity: String, _ what: String) -> AutomaticAttributes {
        guard let index = members.firstIndex(where: { $0.name == EntityKeys.attributes.name }),
            members[index].value.scalarText == LearnedAttributes.word
        else { return .none }
        let section = Section(members: members, what: what)
        let others: [any DescribedKey] = [EntityKeys.extends, EntityKeys.when, EntityKeys.listing, ScanKeys.parent]
        for key in others {
            guard let other = section[key] else { continue }
            error(
                at: other.key.mark, "\(what) has \"attributes: auto\" and \(quoted(key.name))",
                "write its attributes: only the records of its own listing can be inspected before a sync")
            return .unknown
        }
        if learned == nil {
            let (entities, faults) = LearnedAttributes.read(beside: file)
            learned = entities
            diagnostics += faults
        }
        guard let known = learned?[entity] else {
            let name = LearnedAttributes.path(beside: file).split(separator: "/").last.map(String.init) ?? ""
            error(
                at: members[index].value.mark,
                "the attributes of \(what) are \"auto\", and no sync has seen its records yet",
                "run \"bmo sync\", which writes what it finds into \(name), or write them")
            return .unknown
        }
        members[index].value = known
        return .learned
    }

    /// Reassigns the diagnostics from index `first` to the file of learned attributes.
    mutating func moveToLearned(from first: Int) {
        for index in diagnostics.indices.dropFirst(first) where diagnostics[index].location.file == file {
            diagnostics[index].location.file = LearnedAttributes.path(beside: file)
        }
    }
}
