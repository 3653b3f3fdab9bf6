// BridgeKitFoundation: the kit with Foundation's dates and data. It is a separate product because Foundation costs each
// bridge's process time and memory, and most bridges do not need it. `import BridgeKitFoundation` imports the whole
// kit.
@_exported public import BridgeKit
public import Foundation

extension RecordBatchWriter {
    /// Writes a member that is a point in time, to the microsecond, or null.
    ///
    /// A date outside the range of a timestamp (more than about 290,000 years away, or not finite) is written as its
    /// number. No date column accepts a number, so the record goes to quarantine.
    public func member(_ name: String, _ value: Date?) {
        key(name)
        guard let value else { return null() }
        let microseconds = (value.timeIntervalSince1970 * 1_000_000).rounded()
        guard let exact = Int64(exactly: microseconds) else { return double(value.timeIntervalSince1970) }
        timestamp(microseconds: exact)
    }

    /// Writes a member that is bytes or null.
    public func member(_ name: String, _ value: Data?) {
        key(name)
        guard let value else { return null() }
        value.withUnsafeBytes { bytes($0) }
    }

    /// Writes a member that is a decimal with all its digits, or null.
    public func member(_ name: String, _ value: Decimal?) {
        key(name)
        guard let value else { return null() }
        // NaN has no digits.
        if value.isNaN { double(.nan) } else { decimal(value.description) }
    }
}
