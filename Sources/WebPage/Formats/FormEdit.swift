internal import Mapping
internal import Model
internal import StoreContract
internal import WebServer

/// The edit that a form describes: see `EditForm` for its fields.
enum FormEdit {
    /// Returns the edit of the fields that the person has changed, without those that have their new values already.
    ///
    /// A form that was sent twice therefore changes nothing the second time.
    ///
    /// - Parameters:
    ///   - key: The object's key; nil for a new object.
    ///   - current: The object's values as they are now.
    /// - Throws: ``PageFailure`` for values that do not fit their types, with all reasons, and for values that changed
    ///   since the form showed them.
    static func edit(
        _ form: FormFields, of layout: EntityLayout, key: [StoredValue]?, current: [StoredValue]?
    ) throws -> LocalEdit {
        var values: [String: StoredValue] = [:]
        var faults: [String] = []
        for (index, field) in layout.columns.enumerated() {
            guard let given = form["v.\(field.name)"] else { continue }
            let was = plain(form["w.\(field.name)"] ?? "")
            let wasNull = form["wn.\(field.name)"] == "1"
            let text = plain(given)
            // A drop-down list has an empty text for null; other fields have a check box.
            let isNull = field.type == .boolean ? text.isEmpty : form["n.\(field.name)"] == "1"
            // If the field was null, a text typed into it counts even though the box for null is still ticked.
            if isNull, wasNull, text.isEmpty || isSame(text, was) { continue }
            if !isNull, !wasNull, isSame(text, was) { continue }
            let setsNull = isNull && !wasNull
            if let now = current?[index] {
                let shown = ValueText.typed(now, field.type)
                let isDone = setsNull ? now == .null : now != .null && isSame(plain(shown), text)
                if isDone { continue }
                guard (now == .null) == wasNull, isSame(plain(shown), was) else {
                    throw PageFailure(
                        409,
                        """
                        \(field.name) is \(now == .null ? "null" : "\"\(shown)\"") now, and was \
                        \(wasNull ? "null" : "\"\(was)\"") when the page was loaded; nothing was saved. Reload the \
                        object.
                        """)
                }
            }
            if setsNull {
                values[field.name] = .null
                continue
            }
            do {
                values[field.name] = try LocalValueReader(field.type).read(
                    form["cr.\(field.name)"] == "1" ? given : text)
            } catch {
                faults.append("\(field.name): \(error.description)")
            }
        }
        guard faults.isEmpty else { throw PageFailure(400, faults.joined(separator: "\n")) }
        guard let key else { return LocalEdit(.create, entity: layout.name, values: values) }
        return LocalEdit(.update, entity: layout.name, key: key, values: values)
    }

    /// Returns whether two texts have the same bytes: one that was normalized (Unicode, annex 15) is another value.
    private static func isSame(_ text: String, _ other: String) -> Bool { ExactText(text) == ExactText(other) }

    /// Returns a text with LF as line ends: a browser sends each one as CR LF (HTML, section 4.10.22.4).
    private static func plain(_ text: String) -> String { text.replacing("\r\n", with: "\n") }
}
