internal import Model
internal import RecordBatch
internal import TextFormats

/// Converts local values of an attribute to remote ones: the inverse of ``ValueConverter``.
struct OutgoingConverter: Sendable {
    private let attribute: Attribute
    private let forward: ValueConverter
    private let code: CustomCode

    init(_ attribute: Attribute, _ code: CustomCode) {
        self.attribute = attribute
        self.code = code
        forward = ValueConverter(attribute, code)
    }

    /// Returns the remote value of a local one.
    ///
    /// - Throws: The reason why no remote value reads back as the same local value.
    func convert(_ value: StoredValue) throws(ValueConverter.Misfit) -> OutgoingValue {
        var scalar = try natural(value)
        for transformer in attribute.transformers.reversed() { scalar = try undo(transformer, scalar, value) }
        try check(scalar, of: value, "")
        return try shaped(scalar, of: value)
    }

    /// Checks that a remote value reads back as the local one.
    private func check(
        _ scalar: RemoteScalar, of value: StoredValue, _ reason: String
    ) throws(ValueConverter.Misfit) {
        let arena = Arena()
        let back = try forward.convert(scalar, arena).value ?? .null
        guard back == value else {
            throw ValueConverter.Misfit(reason: "\(reason)it would come back as \(Self.shown(back))")
        }
    }

    /// Returns the value in its type, before the inverse transformers are applied.
    private func natural(_ value: StoredValue) throws(ValueConverter.Misfit) -> RemoteScalar {
        switch (attribute.type, value.form) {
        case (_, .null): return .null
        case (.boolean, .integer(let value)): return .bool(value != 0)
        case (_, .integer(let value)): return .int(value)
        case (_, .real(let value)): return .double(value)
        case (_, .bytes(let value)): return .bytes(value)
        case (.decimal, .text(let text)): return .decimal(text)
        case (.json, .text(let text)):
            // A transformer needs the value itself.
            guard !attribute.transformers.isEmpty, let value = try? ConfigValue(json: text) else {
                return .composite(text)
            }
            return RemoteScalar(value)
        case (.timestamp, .text(let text)), (.date, .text(let text)): return try time(text)
        case (_, .text(let text)): return .text(text)
        }
    }

    /// Returns a time or day in the form that the last transformer reads, or in ISO 8601.
    private func time(_ text: String) throws(ValueConverter.Misfit) -> RemoteScalar {
        switch attribute.transformers.last {
        case .unit(let unit)?: return .number(of: try microseconds(text), in: unit)
        case .format(let format)?:
            let written = Timestamp.text(microseconds: try microseconds(text), pattern: format)
            // An empty text would not read back.
            guard !written.isEmpty else {
                throw ValueConverter.Misfit(reason: "the format \(format) cannot represent it")
            }
            return .text(written)
        default:
            guard attribute.type == .timestamp, text.hasSuffix("Z"), let dot = text.lastIndex(of: ".") else {
                return .text(text)
            }
            // The shortest text of the instant, because not every reader accepts six decimals.
            var decimals = text[text.index(after: dot)...].dropLast()
            while decimals.last == "0" { decimals.removeLast() }
            return .text(text[..<dot] + (decimals.isEmpty ? "" : "." + decimals) + "Z")
        }
    }

    private func microseconds(_ text: String) throws(ValueConverter.Misfit) -> Int64 {
        guard let date = ISODate(text) else { throw ValueConverter.Misfit(reason: "it is not a time") }
        return date.microseconds
    }

    private func undo(
        _ transformer: Transformer, _ scalar: RemoteScalar, _ value: StoredValue
    ) throws(ValueConverter.Misfit) -> RemoteScalar {
        switch transformer {
        case .map(let mappings):
            guard
                let mapping = mappings.first(where: { mapping in
                    let local = RemoteScalar(mapping.local)
                    guard !local.isNull, !scalar.isNull else { return local.isNull == scalar.isNull }
                    return local.text.map(ExactText.init) == scalar.text.map(ExactText.init)
                })
            else {
                if scalar.isNull { return .null }
                let known = mappings.map { RemoteScalar($0.local).json }.joined(separator: ", ")
                throw ValueConverter.Misfit(reason: "the map has no remote value for it, only for \(known)")
            }
            return Self.remote(of: mapping, among: mappings)
        case _ where scalar.isNull: return .null
        case .code(let name): return try code.undone(scalar, by: name)
        case .lastSegment, .extract, .join, .first:
            throw ValueConverter.Misfit(
                reason: "it is a part of the remote value, or made of several values: \"write: false\" leaves it out"
            )
        case .trim, .lowercase, .uppercase, .emptyAsNull, .unit, .format: return scalar
        case .prefix(let prefix):
            guard let text = scalar.text, text.hasPrefix(prefix) else {
                throw ValueConverter.Misfit(reason: "it does not begin with \"\(prefix)\"")
            }
            return .text(String(text.dropFirst(prefix.count)))
        case .stripPrefix(let prefix): return .text(prefix + (scalar.text ?? ""))
        case .base(let base):
            guard let text = scalar.text, let number = Int64(text) else { return scalar }
            return .text(String(number, radix: base))
        }
    }

    /// Returns the remote value of a mapping.
    ///
    /// Maps identify remote values by their text; if all are numbers or booleans, the value has that type.
    private static func remote(of mapping: ValueMapping, among mappings: [ValueMapping]) -> RemoteScalar {
        if mappings.allSatisfy({ Int64($0.remote).map(String.init) == $0.remote }), let number = Int64(mapping.remote) {
            return .int(number)
        }
        if mappings.allSatisfy({ ["true", "false"].contains($0.remote) }) { return .bool(mapping.remote == "true") }
        return .text(mapping.remote)
    }

    /// Returns a remote value in the form in which it is sent.
    private func shaped(
        _ scalar: RemoteScalar, of value: StoredValue
    ) throws(ValueConverter.Misfit) -> OutgoingValue {
        guard let form = attribute.write.form, let text = scalar.text else { return OutgoingValue(scalar) }
        switch form {
        case .text: return .text(text)
        case .number:
            if case .bool = scalar { return OutgoingValue(scalar) }
            let number: RemoteScalar
            if let integer = Int64(text) {
                number = .int(integer)
            } else if let decimal = DecimalText(text) {
                number = .decimal(decimal.plain)
            } else {
                throw ValueConverter.Misfit(reason: "it is sent as a number, but is not one")
            }
            // A number has no zeros in front, no plus and no exponent: a text may have them.
            try check(number, of: value, "it is sent as a number, and ")
            return OutgoingValue(number)
        case .key, .object: return OutgoingValue(scalar)
        }
    }

    static func shown(_ value: StoredValue) -> String {
        switch value.form {
        case .text(let text): "\"\(text.count > 80 ? text.prefix(80) + "…" : text)\""
        default: value.description
        }
    }
}

extension RemoteScalar {
    /// Returns an instant as a number of units since 1970, with decimals if needed.
    fileprivate static func number(of microseconds: Int64, in unit: TimeUnit) -> RemoteScalar {
        let divisor: Int64
        let decimals: Int
        switch unit {
        case .seconds: (divisor, decimals) = (1_000_000, 6)
        case .milliseconds: (divisor, decimals) = (1000, 3)
        case .microseconds: (divisor, decimals) = (1, 0)
        }
        guard microseconds % divisor != 0 else { return .int(microseconds / divisor) }
        let fraction = String(microseconds.magnitude % divisor.magnitude)
        let padded = String(repeating: "0", count: decimals - fraction.count) + fraction
        return .decimal("\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / divisor.magnitude).\(padded)")
    }
}

extension Transformer {
    /// Whether a remote value can be made of a local one.
    var hasInverse: Bool {
        switch self {
        case .lastSegment, .extract, .join, .first: false
        default: true
        }
    }
}
