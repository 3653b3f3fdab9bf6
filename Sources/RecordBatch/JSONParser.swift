package import TextFormats

/// Parses JSON text (RFC 8259) into a batch: it turns a representation shown to a person back into a record.
///
/// A number that is not an integer of 64 bits keeps its exact text. The batch's own limit bounds the nesting.
package enum JSONParser {
    /// The reason why a text is not JSON.
    package typealias Fault = JSONFault

    private static let maxDepth = 120
    private static let defaultBytes = 64 << 20

    /// Parses `text` into a batch of one record.
    ///
    /// - Throws: ``Fault``; ``RecordBatchError`` if memory runs out.
    package static func batch(_ text: String) throws -> RecordBatch {
        let writer = RecordBatchWriter()
        // The text is in memory already, and bounds its batch: a value of two bytes takes 16 there, twice while its
        // container ends.
        writer.limit(bytes: max(defaultBytes, text.utf8.count * 20))
        var tokens = JSONTokenizer(Array(text.utf8), maxDepth: maxDepth)
        while let token = try tokens.next() {
            switch token {
            case .null: writer.null()
            case .bool(let value): writer.bool(value)
            case .number(let text):
                if let integer = Int64(text), text != "-0" { writer.int64(integer) } else { writer.decimal(text) }
            case .string(let text): writer.text(text)
            case .key(let name): writer.key(name)
            case .beginArray: writer.beginArray()
            case .endArray: writer.endArray()
            case .beginObject: writer.beginObject()
            case .endObject: writer.endObject()
            }
        }
        return try writer.finish()
    }
}
