internal import Model

/// The merge of an attribute in code, where it was changed here and on the remote.
///
/// ```swift
/// let tags = ValueMerge("tags/1") { base, remote, local in .json(union(base, remote, local)) }
/// #expect(try tags.merged(base: .json("[]"), remote: .json("[1]"), local: .json("[2]")) == .json("[1,2]"))
/// ```
///
/// It takes the place of the entity's `conflicts` for this attribute. A result that equals the remote's value gives the edit up;
/// any other is the local value, and is sent. If the closure throws, takes too long, or returns a value that does not fit the
/// attribute's type, the conflict is left to a person, as with `conflicts: manual`. An edit that is being sent is not merged.
/// It is called in the transaction of the page: it must not read or write the database. See ``CustomCode`` for threads.
public struct ValueMerge: Sendable {
    /// The name under which the configuration has it.
    public let name: String
    private let body: @Sendable (StoredValue?, StoredValue, StoredValue) throws -> StoredValue

    /// Creates a merge.
    ///
    /// - Parameters:
    ///   - name: A name, such as `tags/1`.
    ///   - body: Returns the value from the one that both sides last agreed on, which is nil if it is not known, the remote's and
    ///     the local one.
    public init(
        _ name: String,
        _ body:
            @escaping @Sendable (_ base: StoredValue?, _ remote: StoredValue, _ local: StoredValue) throws ->
            StoredValue
    ) {
        self.name = name
        self.body = body
    }

    /// Returns the merged value.
    ///
    /// - Throws: What the closure throws.
    public func merged(base: StoredValue?, remote: StoredValue, local: StoredValue) throws -> StoredValue {
        try body(base, remote, local)
    }
}

/// A merge for a field, within its time limit.
package struct FieldMerge: Sendable {
    let merge: ValueMerge
    let code: CustomCode
    let type: AttributeType

    /// Returns the merged value in the field's type; nil if the code fails.
    package func merged(base: StoredValue?, remote: StoredValue, local: StoredValue) -> StoredValue? {
        let merged = try? code.call(merge.name) { try merge.merged(base: base, remote: remote, local: local) }
        return merged.flatMap { try? StoredValueConverter(from: nil, to: type).convert($0) }
    }
}

/// Memory of cells whose values a merge creates.
package final class CellMemory {
    private let arena = Arena()

    package init() {}

    /// Returns a cell with a copy of a value, valid as long as this memory.
    package func cell(_ value: StoredValue) -> Cell { arena.cell(value) }
}
