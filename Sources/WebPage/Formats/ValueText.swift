internal import Mapping
internal import Model
internal import StoreContract
internal import TextFormats

/// Values as text: for people, for forms, and for the addresses of objects.
enum ValueText {
    /// Returns a value as a person would type it; bytes as base64, null as an empty text.
    static func typed(_ value: StoredValue, _ type: AttributeType?) -> String {
        switch (value.form, type) {
        case (.null, _): ""
        case (.integer(let value), .boolean): value == 0 ? "false" : "true"
        case (.bytes(let bytes), _): bytes.withUnsafeBytes(Base64.encode)
        default: value.description
        }
    }

    /// Returns the parts of a key for an address, as ``QueryStore/key(of:from:)`` parses them.
    static func parts(of key: [StoredValue]) -> [String] { key.map { typed($0, nil) } }

    /// Returns a key for display: `NO`, `NO 7`.
    static func key(_ key: [StoredValue]) -> String { key.map { typed($0, nil) }.joined(separator: " ") }

    /// Returns a stored time to the second: `2026-11-21 10:00:00`, in UTC.
    static func time(_ instant: String) -> String { String(instant.prefix(19)).replacing("T", with: " ") }

    /// Returns how long ago an instant was, in one unit: `3 minutes ago`; nil if it is not a time.
    static func age(_ instant: String) -> String? {
        guard let then = Timestamp.microseconds(instant), let now = Timestamp.microseconds(Clock.now()) else {
            return nil
        }
        let seconds = max(0, (now - then) / 1_000_000)
        let units: [(size: Int64, name: String)] = [(86400, "day"), (3600, "hour"), (60, "minute")]
        let unit = units.first { seconds >= $0.size } ?? (1, "second")
        return NumberText.count(Int(seconds / unit.size), unit.name, unit.name + "s") + " ago"
    }
}
