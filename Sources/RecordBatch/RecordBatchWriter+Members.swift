extension RecordBatchWriter {
    /// Writes a member that is text or null.
    public func member(_ name: String, _ value: String?) {
        key(name)
        if let value { text(value) } else { null() }
    }

    /// Writes a member that is an integer or null.
    public func member(_ name: String, _ value: Int?) {
        key(name)
        if let value { int64(Int64(value)) } else { null() }
    }

    /// Writes a member that is a bool.
    public func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// The JSON text of an object whose members `body` writes.
    package static func json(_ body: (RecordBatchWriter) -> Void) -> String {
        let writer = RecordBatchWriter()
        writer.object { body(writer) }
        // Only memory or a defect of `body` can fail here: then an empty object is what can be said.
        guard let batch = try? writer.finish() else { return "{}" }
        return batch.json(0)
    }
}
