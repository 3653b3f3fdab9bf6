public import Model

/// Converts a local value from one type to another, for the migration of an attribute whose type changes.
public struct StoredValueConverter: Sendable {
    private let old: AttributeType?
    private let new: AttributeType
    private let converter: ValueConverter

    /// An error for a value that does not fit the new type.
    public struct Misfit: Error, CustomStringConvertible {
        /// The explanation.
        public let description: String
    }

    /// - Parameters:
    ///   - old: The type of the values; nil if only their storage class is known.
    ///   - new: The type to convert to.
    ///   - isIdentity: Whether the values identify objects; see ``StoredValue/identity``.
    public init(from old: AttributeType?, to new: AttributeType, isIdentity: Bool = false) {
        self.old = old
        self.new = new
        converter = ValueConverter(Attribute(name: "", type: new), isIdentity: isIdentity)
    }

    /// Returns the value in the new type; null stays null.
    public func convert(_ value: StoredValue) throws(Misfit) -> StoredValue {
        let scalar: RemoteScalar =
            switch value.form {
            case .null: .null
            // A boolean that becomes an integer is 0 or 1, as it is stored; an import would refuse it.
            case .integer(let number) where old == .boolean && new != .integer: .bool(number != 0)
            case .integer(let number): .int(number)
            case .real(let number): .double(number)
            case .text(let text) where old == .decimal: .decimal(text)
            // JSON that becomes text is unchanged, and a text that is valid JSON is not quoted again.
            case .text(let text) where new == .json: RemoteScalar(json: text)
            case .text(let text): .text(text)
            case .bytes(let bytes) where new == .text || new == .json:
                .text(RemoteScalar.bytes(bytes).json.filter { $0 != "\"" })
            case .bytes(let bytes): .bytes(bytes)
            }
        let arena = Arena()
        do {
            return try converter.convert(scalar, arena).value ?? .null
        } catch {
            throw Misfit(description: error.reason)
        }
    }
}

extension RemoteScalar {
    /// Creates a composite from text that is valid JSON, and a text otherwise.
    fileprivate init(json text: String) {
        self = (try? ConfigValue(json: text)).map { _ in .composite(text) } ?? .text(text)
    }
}
