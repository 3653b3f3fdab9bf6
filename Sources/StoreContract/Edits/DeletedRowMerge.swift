package import Mapping
internal import Model

/// The comparison of a remote record with an object that was deleted locally.
///
/// The delete's base values become those of the record. A value that neither the base nor an edit of the object has
/// shows that the remote changed the object after the delete was made.
package struct DeletedRowMerge {
    /// The delete, with the record's values as base values.
    package private(set) var entry: OutboxEntry
    /// Whether the remote changed the object.
    package private(set) var differs = false
    /// Whether the record has a version of the object, such as an ETag, that was unknown.
    package private(set) var learns = false

    /// Compares a record.
    ///
    /// - Parameters:
    ///   - cells: The record's cells, one per field of the layout.
    ///   - entry: The delete, which is the last of `entries`.
    ///   - entries: The object's entries.
    ///   - layout: The layout of the object's table.
    ///   - model: The model.
    ///   - answer: What the record answers, if it is the remote's reply to an earlier edit of the object: this changes
    ///     what the remote alone sets, such as a time, without another client's doing.
    package init(
        _ cells: [Cell], _ entry: OutboxEntry, in entries: [OutboxEntry], _ layout: EntityLayout,
        _ model: CompiledModel, answers answer: AnsweredEdit? = nil
    ) {
        self.entry = entry
        let plan = answer.map { _ in OutgoingPlan(of: model.index(of: entry.entity) ?? layout.index, in: model) }
        for (index, field) in layout.fields.enumerated() where index != layout.discriminator {
            guard var remote = cells[index].value, !cells[index].isFallback else { continue }
            if cells[index].isPatch, case .text(let members) = remote.form,
                case .text(let base)? = entry.changes.first(where: { $0.name == field.name })?.old?.form,
                let all = ExtraMembers.merge(members, into: base)
            {
                // The members that a partial record lacks are neither unknown nor lost.
                remote = .json(all)
            }
            let isKnown = entries.contains { entry in
                entry.changes.contains { change in
                    change.name == field.name
                        && [change.old, change.new].contains { $0?.isSame(as: remote, field.type) == true }
                }
            }
            guard !isKnown, let place = entry.changes.firstIndex(where: { $0.name == field.name }) else { continue }
            let isFirst =
                [nil, .null].contains(entry.changes[place].old) && Self.isVersion(field, of: layout, model)
            self.entry.changes[place].old = remote
            let isConsequence =
                answer?.includes(field.name) == true || plan?.isSetByRemote(field.name) == true
            if isFirst || isConsequence { learns = true } else { differs = true }
        }
    }

    /// Returns whether a column may be a version of the object, such as an ETag that only reading the object returns.
    ///
    /// Learning it for the first time is not a change of the object.
    private static func isVersion(
        _ field: EntityLayout.Field, of layout: EntityLayout, _ model: CompiledModel
    ) -> Bool {
        guard field.type == .text, field.relationship == nil else { return false }
        let lineage = model.model.lineage(of: model.model.entities[layout.index])
        return lineage.lazy.compactMap { entity in entity.attributes.first { $0.name == field.name } }.first?.write
            .permission == .never
    }
}
