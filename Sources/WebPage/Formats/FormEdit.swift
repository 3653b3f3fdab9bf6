internal import Mapping
internal import Model
internal import StoreContract
internal import WebServer

/// The edit that a form describes: see `EditForm` for its fields.
enum FormEdit {
    /// Returns the edit of the fields that the person has changed.
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
            if isNull, wasNull, text.isEmpty || text == was { continue }
            if !isNull, !wasNull, text == was { continue }
            if let now = current?[index], (now == .null) != wasNull || plain(ValueText.typed(now, field.type)) != was {
                throw PageFailure(
                    409,
                    """
                    \(field.name) is \(now == .null ? "null" : "\"\(ValueText.typed(now, field.type))\"") now, and was \
                    \(wasNull ? "null" : "\"\(was)\"") when the page was loaded; nothing was saved. Reload the object.
                    """)
            }
            if isNull, !wasNull {
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

    /// Returns a text with LF as line ends: a browser sends each one as CR LF (HTML, section 4.10.22.4).
    private static func plain(_ text: String) -> String { text.replacing("\r\n", with: "\n") }
}
