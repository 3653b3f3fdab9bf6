public import RecordBatch

/// An object of the configuration that a bridge reads: its options, or an entity's section.
///
/// The host has validated it against the bridge's JSON Schema; the getters return nil if a member is absent, null or of
/// another type.
public struct BridgeOptions: @unchecked Sendable {
    // The batch is immutable, and `value` points into it: safe to send.
    private let batch: RecordBatch
    private let value: BatchValue

    /// No options.
    public static let empty = BridgeOptions { _ in }

    package init?(batch: RecordBatch) {
        guard batch.count == 1, batch[0].tag == .object else { return nil }
        self.init(batch: batch, value: batch[0])
    }

    init(batch: RecordBatch, value: BatchValue) {
        self.batch = batch
        self.value = value
    }

    /// Creates options whose members `body` writes: for tests and for defaults.
    ///
    /// The options are empty if `body` writes an invalid object.
    public init(_ body: (RecordBatchWriter) -> Void) {
        let writer = RecordBatchWriter()
        writer.object { body(writer) }
        if let batch = try? writer.finish() {
            self.init(batch: batch, value: batch[0])
        } else {
            self = .empty
        }
    }

    /// Parses a JSON object; nil for any other text.
    package init?(json: String) {
        guard let batch = try? JSONParser.batch(json) else { return nil }
        self.init(batch: batch)
    }

    /// Copies an object out of a batch; the options are empty if `value` is not an object.
    public init(copying value: BatchValue) {
        let writer = RecordBatchWriter()
        writer.copy(value)
        self = (try? writer.finish()).flatMap(Self.init(batch:)) ?? .empty
    }

    /// Returns a copy whose members have the values that `others` has for them, nulls too.
    package func replacing(with others: BridgeOptions) -> BridgeOptions {
        defer { withExtendedLifetime((batch, others.batch)) {} }
        return BridgeOptions { writer in
            for (name, member) in value.members {
                writer.key(name)
                writer.copy(others.value[name] ?? member)
            }
        }
    }

    /// Returns a copy without the member `name`.
    package func without(_ name: String) -> BridgeOptions {
        guard value[name] != nil else { return self }
        defer { withExtendedLifetime(batch) {} }
        return BridgeOptions { writer in
            for (key, member) in value.members where key != name {
                writer.key(key)
                writer.copy(member)
            }
        }
    }

    /// The names of the members, in order.
    public var names: [String] { value.members.map(\.key) }

    /// Returns the text of a member; a number or bool is converted to text.
    public func string(_ name: String) -> String? { value[name].flatMap(Self.text) }

    /// Returns the integer of a member.
    public func integer(_ name: String) -> Int? { value[name]?.integer.map(Int.init) }

    /// Returns the bool of a member.
    public func bool(_ name: String) -> Bool? { value[name]?.boolean }

    /// Returns the number of a member.
    public func number(_ name: String) -> Double? {
        guard let member = value[name] else { return nil }
        switch member.tag {
        case .int64: return Double(member.int64)
        case .double: return member.double
        case .decimal: return Double(member.string)
        default: return nil
        }
    }

    /// Returns the object of a member.
    public func object(_ name: String) -> BridgeOptions? {
        guard let member = value[name], member.tag == .object else { return nil }
        return BridgeOptions(batch: batch, value: member)
    }

    /// Returns the objects of a member that is a list.
    public func objects(_ name: String) -> [BridgeOptions] {
        (value[name]?.elements ?? []).filter { $0.tag == .object }.map { BridgeOptions(batch: batch, value: $0) }
    }

    /// Returns the texts of a member that is a list; a single text counts as a list of one.
    public func strings(_ name: String) -> [String] {
        guard let member = value[name] else { return [] }
        return member.tag == .array ? member.elements.compactMap(Self.text) : Self.text(member).map { [$0] } ?? []
    }

    /// Whether the member exists and is not null.
    public func has(_ name: String) -> Bool { value[name].map { $0.tag != .null } ?? false }

    /// Calls `body` with the member's value, which is valid only during the call.
    public func withValue<Result>(_ name: String, _ body: (BatchValue?) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(batch) {} }
        return try body(value[name])
    }

    /// Writes the whole object as a value.
    public func write(to writer: RecordBatchWriter) {
        writer.copy(value)
        withExtendedLifetime(batch) {}
    }

    private static func text(_ value: BatchValue) -> String? {
        switch value.tag {
        case .text, .decimal: value.string
        case .int64, .bool, .double: value.json
        default: nil
        }
    }
}
