public import Model
public import RecordBatch
internal import TextFormats

/// The incremental field of an entity: a scan requests the records that changed since the field's watermark.
public struct WatchedField: Sendable {
    /// The field's index in the entity's layout.
    public let field: Int
    private let attribute: Attribute

    /// Creates the field of an attribute; nil if the layout does not have it.
    ///
    /// - Parameters:
    ///   - name: The attribute's name.
    ///   - attributes: The attributes of the entity, or of the further source to scan.
    ///   - layout: The entity's layout.
    public init?(_ name: String, among attributes: [Attribute], in layout: EntityLayout) {
        guard let attribute = attributes.first(where: { $0.name == name }),
            let field = layout.fields.firstIndex(where: { $0.name == name && $0.relationship == nil })
        else { return nil }
        self.attribute = attribute
        self.field = field
    }

    /// Returns the attribute's value as the remote sent it; nil if the record has none.
    public func remoteText(in record: BatchValue) -> String? {
        guard record.tag == .object else { return nil }
        switch attribute.source {
        case .path(let path): return record.value(at: path).flatMap { RemoteScalar($0).text }
        // The first one that has a value, as the attribute's transformer `first` takes it.
        case .paths(let paths):
            let texts = paths.lazy.compactMap { record.value(at: $0).flatMap { RemoteScalar($0).text } }
            return texts.first { !$0.isEmpty }
        default: return nil
        }
    }

    /// Returns the greatest plausible value: a time more than a day ahead is an error, and would hide all later
    /// changes.
    ///
    /// - Parameter now: The current time as ISO 8601, in the database's form.
    public func limit(now: String) -> StoredValue? { time(now, plus: 86_400_000_000) }

    /// Returns the value of the field that a change at this time has at least, if the remote's clock is less than five
    /// minutes behind; nil for a number.
    ///
    /// - Parameter began: A time as ISO 8601, in the database's form.
    public func settled(before began: String) -> StoredValue? { time(began, plus: -300_000_000) }

    private func time(_ text: String, plus microseconds: Int64) -> StoredValue? {
        guard attribute.type == .timestamp || attribute.type == .date, let time = ISODate(text)?.microseconds else {
            return nil
        }
        let text = Timestamp.text(microseconds: time + microseconds)
        return attribute.type == .date ? .date(String(text.prefix(10))) : .timestamp(text)
    }

    /// Returns the value to request: the watermark minus a lookback, in the remote's form.
    ///
    /// - Parameters:
    ///   - local: The stored form of the watermark.
    ///   - remote: The form that the remote sent.
    ///   - lookback: Seconds for a time or date; a difference for an integer.
    public func since(local: StoredValue, remote: String, lookback: Int64) -> String {
        guard lookback > 0 else { return remote }
        switch local.form {
        case .integer(let value):
            let (less, overflow) = value.subtractingReportingOverflow(lookback)
            return String(overflow ? Int64.min : less, radix: base)
        case .text(let text):
            guard let value = ISODate(text)?.microseconds else { return remote }
            return self.text(of: Self.earlier(value, by: lookback), like: remote)
        default: return remote
        }
    }

    /// Returns the value to request as an ISO 8601 time in UTC; nil if it is not a time, or if the remote writes it as ISO
    /// 8601 or as seconds since 1970.
    ///
    /// - Parameters:
    ///   - local: The stored form of the watermark.
    ///   - remote: The form that the remote sent.
    ///   - lookback: Seconds for a time or date.
    public func sinceTime(local: StoredValue, remote: String, lookback: Int64) -> String? {
        let isTransformed = attribute.transformers.contains { transformer in
            switch transformer {
            case .format, .unit: true
            default: false
            }
        }
        guard attribute.type == .timestamp || attribute.type == .date,
            isTransformed || ISODate(remote) == nil && DecimalText(remote) == nil,
            case .text(let text) = value(local, lessBy: lookback).form, let time = ISODate(text)?.microseconds
        else { return nil }
        return Timestamp.text(microseconds: time)
    }

    /// Returns a stored value less a lookback: seconds for a time or date, a difference for an integer.
    public func value(_ local: StoredValue, lessBy lookback: Int64) -> StoredValue {
        guard lookback > 0 else { return local }
        switch local.form {
        case .integer(let value):
            let (less, overflow) = value.subtractingReportingOverflow(lookback)
            return .integer(overflow ? Int64.min : less)
        case .text(let text):
            guard let value = ISODate(text)?.microseconds else { return local }
            let earlier = Timestamp.text(microseconds: Self.earlier(value, by: lookback))
            return attribute.type == .date ? .date(String(earlier.prefix(10))) : .timestamp(earlier)
        default: return local
        }
    }

    /// Returns the microseconds of a time so many seconds earlier, at least those of the year 1.
    private static func earlier(_ value: Int64, by seconds: Int64) -> Int64 {
        let earliest: Int64 = -62_135_596_800_000_000
        let (span, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? earliest : max(earliest, value - span)
    }

    private var base: Int {
        for case .base(let base) in attribute.transformers { return base }
        return 10
    }

    private func text(of microseconds: Int64, like remote: String) -> String {
        var unit = TimeUnit.seconds
        for transformer in attribute.transformers {
            if case .format(let format) = transformer {
                return Timestamp.text(microseconds: microseconds, pattern: format)
            }
            if case .unit(let value) = transformer { unit = value }
        }
        if DecimalText(remote) != nil { return Self.number(microseconds, unit, decimals: Self.decimals(of: remote)) }
        return Self.isoText(of: microseconds, like: remote)
    }

    private static func decimals(of number: String) -> Int {
        guard let point = number.firstIndex(of: ".") else { return 0 }
        return number[number.index(after: point)...].prefix { $0.isNumber }.count
    }

    private static func number(_ microseconds: Int64, _ unit: TimeUnit, decimals: Int) -> String {
        let scale: Int64 =
            switch unit {
            case .seconds: 1_000_000
            case .milliseconds: 1000
            case .microseconds: 1
            }
        let whole = microseconds / scale - (microseconds % scale < 0 ? 1 : 0)
        guard decimals > 0, scale > 1, whole >= 0 else { return String(whole) }
        let fraction = String(scale + microseconds % scale).dropFirst()
        return "\(whole).\(fraction.prefix(decimals))"
    }

    /// Formats an instant as ISO 8601, with the separators, decimals and zone of `model`.
    private static func isoText(of microseconds: Int64, like model: String) -> String {
        let canonical = Timestamp.text(microseconds: microseconds)
        guard let instant = ISODate(model)?.microseconds else { return canonical }
        guard model.utf8.count > 10 else { return String(canonical.prefix(10)) }
        let bytes = Array(model.utf8)
        let zoneStart = bytes.indices.dropFirst(11).first {
            [UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[$0])
        }
        let end = zoneStart ?? bytes.count
        let clock = String(decoding: bytes[..<end], as: UTF8.self)
        guard let wall = ISODate(clock)?.microseconds else { return canonical }
        let shifted = Array(Timestamp.text(microseconds: microseconds + wall - instant).utf8)
        // Combine the digits of the time with the separators of `model`.
        var text = Array(shifted[..<min(19, end)])
        text[10] = bytes[10]
        if end > 20 {
            text.append(bytes[19])
            let digits = shifted[20..<26] + [UInt8](repeating: UInt8(ascii: "0"), count: 20)
            text += digits.prefix(end - 20)
        }
        return String(decoding: text + bytes[end...], as: UTF8.self)
    }
}
