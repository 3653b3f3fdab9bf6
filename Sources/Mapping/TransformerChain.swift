internal import Model

/// The transformers of an attribute that change a value before its type is looked at, from left to right.
struct TransformerChain: Sendable {
    private let transformers: [Transformer]

    /// Nil when there is nothing to do.
    init?(_ transformers: [Transformer]) {
        // A unit or format tells how to read a point in time: see TemporalParser.
        self.transformers = transformers.filter {
            switch $0 {
            case .unit, .format: false
            default: true
            }
        }
        if self.transformers.isEmpty { return nil }
    }

    func apply(to scalar: RemoteScalar) throws(ValueConverter.Misfit) -> RemoteScalar {
        var scalar = scalar
        for transformer in transformers {
            if scalar.isNull { return .null }
            scalar = try apply(transformer, to: scalar)
        }
        return scalar
    }

    private func apply(
        _ transformer: Transformer, to scalar: RemoteScalar
    ) throws(ValueConverter.Misfit) -> RemoteScalar {
        // What is no text is not empty: an object of a json attribute, for instance.
        if case .emptyAsNull = transformer, scalar.text == nil { return scalar }
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
        case .base(let base):
            guard let value = Int64(text, radix: base) else {
                throw ValueConverter.Misfit(reason: "\(scalar.shown) is not an integer of base \(base)")
            }
            return .int(value)
        case .map(let mappings):
            guard let mapping = mappings.first(where: { $0.remote == text }) else {
                let known = mappings.map { "\"\($0.remote)\"" }.joined(separator: ", ")
                throw ValueConverter.Misfit(reason: "\(scalar.shown) is not in the map of \(known)")
            }
            return RemoteScalar(mapping.local)
        case .unit, .format: return scalar
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
