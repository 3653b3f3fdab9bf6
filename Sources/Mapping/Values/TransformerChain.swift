internal import Model
internal import RecordBatch
internal import TextFormats

/// The transformers of an attribute that change a value before its type conversion, applied from left to right.
struct TransformerChain: Sendable {
    private let transformers: [Transformer]
    private let code: CustomCode

    /// Creates a chain; nil if no transformer changes the value.
    init?(_ transformers: [Transformer], _ code: CustomCode) {
        self.code = code
        // A unit or format configures the parsing of times: see TemporalParser.
        self.transformers = transformers.filter {
            switch $0 {
            case .unit, .format: false
            default: true
            }
        }
        if self.transformers.isEmpty { return nil }
    }

    /// Whether the first transformer takes a list.
    var joinsLists: Bool {
        switch transformers.first {
        case .join, .first: true
        default: false
        }
    }

    /// Whether the first transformer takes the first value of a list, or of several paths.
    var takesFirst: Bool {
        if case .first = transformers.first { true } else { false }
    }

    func apply(to scalar: RemoteScalar) throws(ValueConverter.Misfit) -> RemoteScalar {
        var scalar = scalar
        for (index, transformer) in transformers.enumerated() {
            if scalar.isNull { return .null }
            guard case .first = transformer else {
                scalar = try apply(transformer, to: scalar)
                continue
            }
            // Then an empty text counts as null, and the next value is taken.
            if case .emptyAsNull = transformers.dropFirst(index + 1).first {
                scalar = try Self.first(scalar, besidesEmpty: true)
            } else {
                scalar = try Self.first(scalar, besidesEmpty: false)
            }
        }
        return scalar
    }

    private func apply(
        _ transformer: Transformer, to scalar: RemoteScalar
    ) throws(ValueConverter.Misfit) -> RemoteScalar {
        // A value without a text form is not empty, such as the object of a json attribute.
        if case .emptyAsNull = transformer, scalar.text == nil { return scalar }
        if case .join(let separator) = transformer { return try Self.joined(scalar, separator) }
        if case .code(let name) = transformer { return try code.transformed(scalar, by: name) }
        guard let text = scalar.text else {
            throw ValueConverter.Misfit(reason: "\(scalar.shown) cannot be transformed: it is not a single value")
        }
        switch transformer {
        case .trim: return .text(Self.trimmed(text))
        case .lowercase: return .text(text.lowercased())
        case .uppercase: return .text(text.uppercased())
        case .prefix(let prefix): return .text(prefix + text)
        case .stripPrefix(let prefix):
            return text.hasPrefix(prefix) ? .text(String(text.dropFirst(prefix.count))) : scalar
        case .emptyAsNull: return text.isEmpty ? .null : scalar
        case .lastSegment: return .text(Self.lastSegment(text))
        case .extract(let expression):
            guard let group = expression.firstGroup(in: text) else {
                throw ValueConverter.Misfit(reason: "\(scalar.shown) does not fit the expression \(expression)")
            }
            return group.map { .text($0) } ?? .null
        case .join, .first, .code: return scalar
        case .base(let base):
            guard let value = Int64(text, radix: base) else {
                throw ValueConverter.Misfit(reason: "\(scalar.shown) is not an integer of base \(base)")
            }
            return .int(value)
        case .map(let mappings):
            guard let mapping = mappings.first(where: { ExactText($0.remote) == ExactText(text) }) else {
                let known = mappings.map { "\"\($0.remote)\"" }.joined(separator: ", ")
                throw ValueConverter.Misfit(reason: "\(scalar.shown) is not in the map of \(known)")
            }
            return RemoteScalar(mapping.local)
        case .unit, .format: return scalar
        }
    }

    /// Returns the last nonempty segment of a path (RFC 3986, section 3.3), percent-decoded.
    private static func lastSegment(_ text: String) -> String {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        guard let segment = path.split(separator: "/").last else { return "" }
        // A segment that does not decode to UTF-8 stays as written.
        return String(validUTF8: PercentEncoding.bytes(segment)) ?? String(segment)
    }

    /// Joins the values of a list; null if there are none.
    private static func joined(
        _ scalar: RemoteScalar, _ separator: String
    ) throws(ValueConverter.Misfit) -> RemoteScalar {
        guard let values = try values(of: scalar) else { return scalar }
        var texts: [String] = []
        for value in values {
            guard let text = value.text else {
                throw ValueConverter.Misfit(reason: "\(value.shown) cannot be joined: it is not a single value")
            }
            texts.append(text)
        }
        return texts.isEmpty ? .null : .text(texts.joined(separator: separator))
    }

    /// Returns the first value of a list; null if there are none.
    private static func first(
        _ scalar: RemoteScalar, besidesEmpty: Bool
    ) throws(ValueConverter.Misfit) -> RemoteScalar {
        guard let values = try values(of: scalar) else { return scalar }
        return values.first { !besidesEmpty || $0.text?.isEmpty != true } ?? .null
    }

    /// Returns the values of a list that are not null; nil for a single value.
    private static func values(of scalar: RemoteScalar) throws(ValueConverter.Misfit) -> [RemoteScalar]? {
        guard case .composite(let json) = scalar else { return nil }
        guard json.hasPrefix("["), let batch = try? JSONParser.batch("{\"list\":\(json)}"), batch.count == 1,
            let list = batch[0]["list"]
        else { throw ValueConverter.Misfit(reason: "\(scalar.shown) is not a list") }
        let values = list.elements.filter { $0.tag != .null }.map { RemoteScalar($0) }
        withExtendedLifetime(batch) {}
        return values
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
