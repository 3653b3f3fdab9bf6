/// A transformer in code: what a remote value means here, and the way back.
///
/// ```swift
/// let cents = ValueTransformer("cents/1") { value in
///     guard case .integer(let cents) = value else { throw NotCents() }
///     return .decimal("\(cents / 100).\(cents % 100)")
/// }
/// #expect(try cents.local(.integer(1250)) == .decimal("12.50"))
/// ```
///
/// It is not called for null. What it returns is converted to the attribute's type, as a remote value is. See ``CustomCode`` for
/// threads and failures.
public struct ValueTransformer: Sendable {
    /// The name under which the configuration has it; it changes with what the code does.
    public let name: String
    private let incoming: @Sendable (StoredValue) throws -> StoredValue
    private let outgoing: (@Sendable (StoredValue) throws -> StoredValue)?

    /// Creates a transformer.
    ///
    /// - Parameters:
    ///   - name: A name, such as `cents/1`.
    ///   - outgoing: Returns the remote value of a local one, for edits; the result has to read back as the same local value.
    ///     Without it, the attribute cannot be written.
    ///   - incoming: Returns the local value of a remote one.
    public init(
        _ name: String, outgoing: (@Sendable (StoredValue) throws -> StoredValue)? = nil,
        incoming: @escaping @Sendable (StoredValue) throws -> StoredValue
    ) {
        self.name = name
        self.incoming = incoming
        self.outgoing = outgoing
    }

    /// A value without a way back.
    public struct NoWayBack: Error, CustomStringConvertible {
        /// The reason, with its remedy.
        public let description = "it has no way back to the remote value: \"write: false\" leaves the attribute out"
    }

    /// Returns the local value of a remote one, whose kinds are those of JSON: ``StoredValue/json(_:)`` for lists and objects, and
    /// ``StoredValue/decimal(_:)`` for numbers that are not integers; some bridges also bring bytes and timestamps.
    ///
    /// - Throws: What the closure throws.
    public func local(_ remote: StoredValue) throws -> StoredValue { try incoming(remote) }

    /// Returns the remote value of a local one.
    ///
    /// - Throws: ``NoWayBack``; what the closure throws.
    public func remote(_ local: StoredValue) throws -> StoredValue {
        guard let outgoing else { throw NoWayBack() }
        return try outgoing(local)
    }
}
