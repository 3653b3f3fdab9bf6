package import StoreContract

extension OutboxEntry {
    /// Returns the entry with a later edit merged into it: the first base value and the last new value count.
    package func adding(_ later: [FieldEdit], _ laterLinks: [LinkEdit]) -> OutboxEntry {
        var entry = self
        for change in later {
            if let index = entry.changes.firstIndex(where: { $0.name == change.name }) {
                entry.changes[index].new = change.new
                // A column with its base value need not be sent.
                if operation == .update, entry.changes[index].old == change.new { entry.changes.remove(at: index) }
            } else {
                entry.changes.append(
                    FieldEdit(name: change.name, old: operation == .create ? nil : change.old, new: change.new))
            }
        }
        for link in laterLinks {
            if let index = entry.links.firstIndex(where: { $0.relationship == link.relationship }) {
                entry.links[index].new = link.new
                if operation == .update, entry.links[index].old == link.new { entry.links.remove(at: index) }
            } else {
                entry.links.append(
                    LinkEdit(
                        relationship: link.relationship, old: operation == .create ? [] : link.old, new: link.new))
            }
        }
        return entry
    }
}
