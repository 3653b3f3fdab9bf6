internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON

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

    init(_ value: JSONRecordReader.Value) {
        self =
            switch value.kind {
            case .missing: .missing
            case .null: .null
            case .false: .bool(false)
            case .true: .bool(true)
            case .number: .number(value.text)
            case .text: .text(value.text)
            case .object: .object
            case .array: .array(value.text)
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
        case .text(let text), .number(let text): Int(text)?.clampedPosition
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
    ///
    /// Takes a pass over the text for every ``JSONRecordReader/maxPaths`` paths.
    static func read(_ paths: [JSONPath], in body: HTTPExchange.PaddedBody) -> [JSONScalar]? {
        var values: [JSONScalar] = []
        var rest = paths[...]
        repeat {
            guard let reader = try? JSONRecordReader(),
                let numbers = try? rest.prefix(JSONRecordReader.maxPaths).map({ try reader.addPath($0) }),
                reader.begin(body.bytes, count: body.count, as: .values), reader.next(into: nil) == .done
            else { return nil }
            values += numbers.map { JSONScalar(reader.value(at: $0)) }
            rest = rest.dropFirst(numbers.count)
        } while !rest.isEmpty
        return values
    }

    /// Returns the values at paths of a JSON text, or nil if the text is not JSON.
    static func read(_ paths: [JSONPath], in text: String) -> [JSONScalar]? {
        read(paths, in: HTTPExchange.PaddedBody(Array(text.utf8)))
    }
}
