internal import Model
internal import RecordBatch
internal import TextFormats

/// Converts remote values to local values of an attribute's type.
///
/// Compiled once per attribute.
struct ValueConverter: Sendable {
    /// The reason why a value does not fit.
    ///
    /// The caller adds the attribute and the record.
    struct Misfit: Error {
        let reason: String
    }

    private let type: AttributeType
    private let chain: TransformerChain?
    private let temporal: TemporalParser
    private let isIdentity: Bool

    /// - Parameter isIdentity: Whether the value identifies an object, so that equal numbers must have the same text.
    init(_ attribute: Attribute, _ code: CustomCode = CustomCode(), isIdentity: Bool = false) {
        self.isIdentity = isIdentity
        type = attribute.type
        chain = TransformerChain(attribute.transformers, code)
        temporal = TemporalParser(attribute.transformers)
    }

    /// Whether the converter joins a list into one text.
    var joinsLists: Bool { chain?.joinsLists ?? false }
    /// Whether the first of several paths that has a value counts.
    var takesFirst: Bool { chain?.takesFirst ?? false }

    /// Converts a remote value.
    func convert(_ value: BatchValue, _ arena: Arena) throws(Misfit) -> Cell {
        try convert(RemoteScalar(value), value, arena)
    }

    /// Converts a constant of the configuration.
    func convert(_ constant: ConfigValue, _ arena: Arena) throws(Misfit) -> Cell {
        try convert(RemoteScalar(constant), nil, arena)
    }

    /// Converts a value from another origin.
    func convert(_ scalar: RemoteScalar, _ arena: Arena) throws(Misfit) -> Cell { try convert(scalar, nil, arena) }

    private func convert(
        _ scalar: RemoteScalar, _ value: BatchValue?, _ arena: Arena
    ) throws(Misfit) -> Cell {
        let scalar = try chain?.apply(to: scalar) ?? scalar
        if scalar.isNull { return .null }
        switch type {
        case .text: return .text(arena.copy(try text(scalar)))
        case .integer: return .integer(try integer(scalar))
        case .real: return .real(try real(scalar))
        case .boolean: return .boolean(try boolean(scalar))
        case .decimal: return .decimal(arena.copy(try decimal(scalar)))
        case .timestamp: return .timestamp(arena.copy(try temporal.timestamp(scalar)))
        case .date: return .date(arena.copy(try temporal.date(scalar)))
        case .data: return .bytes(arena.copy(try data(scalar)))
        case .json: return .json(arena.copy(json(scalar, value)))
        case .url: return .url(arena.copy(try url(scalar)))
        case .uuid: return .uuid(arena.copy(try uuid(scalar)))
        }
    }

    private func misfit(_ scalar: RemoteScalar, _ wanted: String) -> Misfit {
        Misfit(reason: "\(scalar.shown) is not \(wanted)")
    }

    private func text(_ scalar: RemoteScalar) throws(Misfit) -> String {
        guard let text = scalar.text else { throw misfit(scalar, "a text") }
        return text
    }

    private func integer(_ scalar: RemoteScalar) throws(Misfit) -> Int64 {
        switch scalar {
        case .int(let value): return value
        case .text(let text), .decimal(let text):
            if let value = Int64(text) { return value }
            if let value = DecimalText(text)?.integer { return value }
        case .double(let value):
            if let exact = Int64(exactly: value) { return exact }
        default: break
        }
        throw misfit(scalar, "an integer of 64 bits")
    }

    private func real(_ scalar: RemoteScalar) throws(Misfit) -> Double {
        switch scalar {
        case .int(let value): return Double(value)
        case .double(let value):
            if value.isFinite { return value }
        case .text(let text), .decimal(let text):
            if DecimalText(text) != nil, let value = Double(text), value.isFinite { return value }
        default: break
        }
        throw misfit(scalar, "a finite real number")
    }

    private func boolean(_ scalar: RemoteScalar) throws(Misfit) -> Bool {
        switch scalar {
        case .bool(let value): return value
        case .int(0): return false
        case .int(1): return true
        case .decimal("-0"): return false
        case .text(let text):
            switch text.lowercased() {
            case "true", "1": return true
            case "false", "0": return false
            default: break
            }
        default: break
        }
        throw misfit(scalar, "a boolean (true, false, 1, 0)")
    }

    private func decimal(_ scalar: RemoteScalar) throws(Misfit) -> String {
        switch scalar {
        case .int(let value): return String(value)
        case .double(let value):
            if let number = DecimalText("\(value)") { return digits(of: number) }
        case .text(let text), .decimal(let text):
            if let number = DecimalText(text) { return digits(of: number) }
        default: break
        }
        throw misfit(scalar, "a decimal number of at most \(DecimalText.maximumDigits) digits")
    }

    private func digits(of number: DecimalText) -> String { isIdentity ? number.canonical : number.plain }

    private func data(_ scalar: RemoteScalar) throws(Misfit) -> [UInt8] {
        if case .bytes(let bytes) = scalar { return bytes }
        if case .text(let text) = scalar, let bytes = Base64.decode(text) { return bytes }
        throw misfit(scalar, "data (bytes or base64)")
    }

    private func json(_ scalar: RemoteScalar, _ value: BatchValue?) -> String {
        if chain == nil, let value { return value.json }
        return scalar.json
    }

    private func url(_ scalar: RemoteScalar) throws(Misfit) -> String {
        // RFC 3986, section 3: a scheme and a colon, without white space or control characters.
        guard let text = scalar.text, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            let first = text.utf8.first, Self.isLetter(first),
            text.utf8[..<colon].allSatisfy({
                Self.isLetter($0) || (48...57).contains($0) || [43, 45, 46].contains($0)
            }),
            text.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
        else { throw misfit(scalar, "an absolute URL") }
        return text
    }

    private func uuid(_ scalar: RemoteScalar) throws(Misfit) -> String {
        guard let text = scalar.text.flatMap(UUIDText.canonical) else { throw misfit(scalar, "a UUID") }
        return text
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
