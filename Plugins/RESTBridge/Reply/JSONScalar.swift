internal import BridgeHTTP
internal import BridgeJSON
internal import CSimdJSON

/// The value at one place of a JSON text.
enum JSONScalar: Equatable, Sendable {
    case missing
    case null
    case bool(Bool)
    /// A number in its original notation.
    case number(String)
    case text(String)
    case object
    /// An array, with the first character of its first element if known.
    case array(String)

    init(_ value: bmo_json_value) {
        var text: String {
            String(decoding: UnsafeRawBufferPointer(start: value.text, count: value.length), as: UTF8.self)
        }
        switch value.kind {
        case BMO_JSON_NULL: self = .null
        case BMO_JSON_FALSE: self = .bool(false)
        case BMO_JSON_TRUE: self = .bool(true)
        case BMO_JSON_NUMBER: self = .number(text)
        case BMO_JSON_TEXT: self = .text(text)
        case BMO_JSON_OBJECT: self = .object
        case BMO_JSON_ARRAY: self = .array(text)
        default: self = .missing
        }
    }

    /// The text, number or bool as text.
    var plain: String? {
        switch self {
        case .text(let text), .number(let text): text
        case .bool(let value): value ? "true" : "false"
        case .missing, .null, .object, .array: nil
        }
    }

    /// The value as an integer, clamped to the countable range.
    var integer: Int? {
        switch self {
        case .text(let text), .number(let text): Int(text)?.countable
        default: nil
        }
    }

    var bool: Bool? {
        switch self {
        case .bool(let value): value
        case .text("true"), .number("1"): true
        case .text("false"), .number("0"): false
        default: nil
        }
    }

    /// Returns the values at paths of a JSON text, or nil if the body is not JSON.
    static func read(_ paths: [JSONPath], in body: HTTPExchange.PaddedBody) -> [JSONScalar]? {
        guard let reader = bmo_json_reader_new() else { return nil }
        defer { bmo_json_reader_free(reader) }
        let numbers = paths.map { $0.add(to: reader) }
        return body.bytes.withUnsafeBufferPointer { bytes in
            guard bmo_json_begin(reader, bytes.baseAddress, body.count, BMO_JSON_VALUES) != 0,
                bmo_json_next(reader, nil, Int.max) == BMO_JSON_DONE
            else { return nil }
            return numbers.map { number in
                var value = bmo_json_value()
                bmo_json_value_at(reader, number, &value)
                return JSONScalar(value)
            }
        }
    }

    /// Returns the values at paths of a JSON text, or nil if the text is not JSON.
    static func read(_ paths: [JSONPath], in text: String) -> [JSONScalar]? {
        read(paths, in: HTTPExchange.PaddedBody(Array(text.utf8)))
    }
}
