internal import RecordBatch

/// A matcher in code: whether a record is an object of a sub-entity.
///
/// ```swift
/// let book = RecordMatcher("book/1") { record in record["isbn"] != nil }
/// #expect(try book.fits(RemoteRecord(json: #"{"isbn": "978-3"}"#)))
/// ```
///
/// See ``CustomCode`` for threads and failures.
public struct RecordMatcher: Sendable {
    /// The name under which the configuration has it; it changes with what the code does.
    public let name: String
    private let body: @Sendable (RemoteRecord) throws -> Bool

    /// Creates a matcher.
    public init(_ name: String, _ body: @escaping @Sendable (RemoteRecord) throws -> Bool) {
        self.name = name
        self.body = body
    }

    /// Returns whether a record is an object of the sub-entity.
    ///
    /// - Throws: What the closure throws.
    public func fits(_ record: RemoteRecord) throws -> Bool { try body(record) }
}

/// A record as the bridge brings it, before it is mapped; a view that is valid during the call that gets it.
public struct RemoteRecord {
    private let object: BatchValue
    /// Keeps the memory of a record that was made from JSON.
    private let batch: RecordBatch?

    init(_ object: BatchValue) {
        self.object = object
        batch = nil
    }

    /// Creates a record for a test.
    ///
    /// - Throws: The fault of a text that is not a JSON object.
    public init(json: String) throws {
        let batch = try JSONParser.batch(json)
        guard batch.count == 1, batch[0].tag == .object else { throw NotAnObject() }
        self.batch = batch
        object = batch[0]
    }

    /// A text that is JSON, and not an object.
    public struct NotAnObject: Error {}

    /// The names of the record's members.
    public var names: [String] {
        withExtendedLifetime(batch) { (0..<object.count).map { object[$0].key } }
    }

    /// The value of a member; nil where there is none.
    public subscript(member: String) -> StoredValue? { self[path: [member]] }

    /// The value at a path of members; nil where there is none.
    public subscript(path path: [String]) -> StoredValue? {
        withExtendedLifetime(batch) {
            guard !path.isEmpty else { return nil }
            var value = object
            for name in path {
                guard value.tag == .object,
                    let index = (0..<value.count).last(where: { value[$0].key == name })
                else { return nil }
                value = value[index]
            }
            return StoredValue(RemoteScalar(value))
        }
    }
}
