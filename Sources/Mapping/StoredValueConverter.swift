public import Model

/// Turns a local value of one type into one of another, as a migration does when an attribute's type changes.
public struct StoredValueConverter: Sendable {
    private let old: AttributeType?
    private let new: AttributeType
    private let converter: ValueConverter

    /// A value that is none of the new type.
    public struct Misfit: Error, CustomStringConvertible {
        /// What does not fit, in words.
        public let description: String
    }

    /// - Parameters:
    ///   - old: The type that the values have; nil when only their storage class is known.
    ///   - new: The type that they get.
    public init(from old: AttributeType?, to new: AttributeType) {
        self.old = old
        self.new = new
        converter = ValueConverter(Attribute(name: "", type: new))
    }

    /// The value as the new type has it; null stays null.
    public func convert(_ value: StoredValue) throws(Misfit) -> StoredValue {
        let scalar: RemoteScalar =
            switch value {
            case .null: .null
            case .integer(let number) where old == .boolean: .bool(number != 0)
            case .integer(let number): .int(number)
            case .real(let number): .double(number)
            case .text(let text) where old == .decimal: .decimal(text)
            // JSON that becomes text stays as it is, and a text that is JSON is not quoted once more.
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
    /// A text that is JSON as what it is, and any other as the text.
    fileprivate init(json text: String) {
        self = (try? ConfigValue(json: text)).map { _ in .composite(text) } ?? .text(text)
    }
}
