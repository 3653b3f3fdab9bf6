package import Mapping
internal import RecordBatch
internal import TextFormats

/// The members of partial records in the column of extra members: they replace stored ones, and the others stay.
package enum ExtraMembers {
    /// Calls `body` with a row's cells in which the column has all members that the row has then.
    ///
    /// - Parameter stored: Returns the stored row; nil if there is none. Only called for a partial record.
    package static func settle<Outcome>(
        _ cells: UnsafeBufferPointer<Cell>, _ layout: EntityLayout, over stored: () throws -> [StoredValue]?,
        _ body: (UnsafeBufferPointer<Cell>) throws -> Outcome
    ) throws -> Outcome {
        guard let extra = layout.extra, cells[extra].isPatch, case .text(let old)? = try stored()?[extra].form,
            var text = merge(String(decoding: cells[extra].rawBytes, as: UTF8.self), into: old)
        else { return try body(cells) }
        return try text.withUTF8 { text in
            var own = Array(cells)
            own[extra] = .json(UnsafeRawBufferPointer(text))
            return try own.withUnsafeBufferPointer(body)
        }
    }

    /// Returns a JSON object with the members of another merged into it; nil if either is not an object.
    ///
    /// The text is that of the stored object if no member has another value.
    static func merge(_ members: String, into stored: String) -> String? {
        guard let old = try? JSONParser.batch(stored), let new = try? JSONParser.batch(members),
            old[0].tag == .object, new[0].tag == .object
        else { return nil }
        return withExtendedLifetime((old, new)) {
            var values: [ExactText: String] = [:]
            for (name, value) in new[0].members { values[ExactText(name)] = value.json }
            var json = ""
            var isChanged = false
            var written: Set<ExactText> = []
            func add(_ name: String, _ value: String) {
                json += json.isEmpty ? "{" : ","
                json.appendJSONString(name)
                json += ":" + value
                written.insert(ExactText(name))
            }
            for (name, value) in old[0].members {
                let before = value.json
                let now = values[ExactText(name)] ?? before
                if now != before { isChanged = true }
                add(name, now)
            }
            for (name, _) in new[0].members where !written.contains(ExactText(name)) {
                isChanged = true
                add(name, values[ExactText(name)] ?? "null")
            }
            return isChanged ? json + "}" : stored
        }
    }
}
