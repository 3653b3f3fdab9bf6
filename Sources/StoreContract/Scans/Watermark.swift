public import Mapping

/// The newest value of an incremental field.
public struct Watermark: Sendable, Equatable {
    /// The stored form; the greatest is the newest.
    public var local: StoredValue
    /// The form that the remote sent.
    public var remote: String

    /// Creates a watermark.
    public init(local: StoredValue, remote: String) {
        self.local = local
        self.remote = remote
    }

    /// Returns whether `value` is newer than `old`: integers compare by value, times and dates by their text.
    public static func isNewer(_ value: StoredValue, than old: StoredValue?) -> Bool {
        switch (value.form, old?.form) {
        case (.integer(let value), .integer(let old)): value > old
        case (.text(let value), .text(let old)): ExactText(value) > ExactText(old)
        case (.null, _): false
        default: true
        }
    }

    /// Returns the newer of two watermarks.
    public static func newer(_ first: Watermark?, _ second: Watermark?) -> Watermark? {
        guard let first else { return second }
        guard let second else { return first }
        return isNewer(second.local, than: first.local) ? second : first
    }
}
