internal import Mapping
internal import StoreContract

/// The local edits that a run removed from the outbox before they were pushed, in the run's summary.
package enum DroppedEdits {
    /// Returns the text `{"dropped":[7,8]}`, or `{"given_up":[7,8]}` for an import, whose summary has further members;
    /// nil without edits.
    package static func text(_ ids: [Int64], isEdit: Bool) -> String? {
        guard !ids.isEmpty else { return nil }
        var text = JSONText()
        text.append("{")
        text.beginMember(isEdit ? "dropped" : "given_up")
        text.append(.key(ids.map { StoredValue.integer($0) }))
        text.append("}")
        return text.string
    }

    /// Returns a summary with the edits added.
    package static func adding(_ ids: [Int64], to summary: String?, isEdit: Bool) -> String? {
        guard let text = text(ids, isEdit: isEdit) else { return summary }
        guard let summary, summary.hasPrefix("{"), summary.count > 2 else { return text }
        return summary.dropLast() + "," + text.dropFirst()
    }
}
