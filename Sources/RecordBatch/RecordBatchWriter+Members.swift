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

    /// Writes a member that is an integer of 64 bits or null.
    public func member(_ name: String, _ value: Int64?) {
        key(name)
        if let value { int64(value) } else { null() }
    }

    /// Writes a member that is a number or null.
    public func member(_ name: String, _ value: Double?) {
        key(name)
        if let value { double(value) } else { null() }
    }

    /// Writes a member that is bytes or null.
    public func member(_ name: String, _ value: [UInt8]?) {
        key(name)
        if let value { value.withUnsafeBytes { bytes($0) } } else { null() }
    }

    /// Writes a member that is a point in time, in microseconds since 1970-01-01T00:00:00Z, or null.
    ///
    /// `import BridgeKitFoundation` adds the same for a `Date`.
    public func member(_ name: String, microsecondsSince1970 value: Int64?) {
        key(name)
        if let value { timestamp(microseconds: value) } else { null() }
    }

    /// Writes a member that is an object, whose members `body` writes.
    public func member(_ name: String, object body: () throws -> Void) rethrows {
        key(name)
        try object(body)
    }

    /// Writes a member that is an array, whose elements `body` writes.
    public func member(_ name: String, array body: () throws -> Void) rethrows {
        key(name)
        try array(body)
    }

    /// Writes a member that is a bool.
    public func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    /// Returns the JSON text of an object whose members `body` writes.
    package static func json(_ body: (RecordBatchWriter) -> Void) -> String {
        let writer = RecordBatchWriter()
        writer.object { body(writer) }
        // Only a lack of memory or a defect of `body` can fail here; an empty object is the fallback.
        guard let batch = try? writer.finish() else { return "{}" }
        return batch.json(0)
    }
}
