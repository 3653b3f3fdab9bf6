public import StoreContract

/// The remaining quarantine budget of a scan.
public struct QuarantineRoom: Sendable, Equatable {
    /// The number of records.
    public var records: Int
    /// The total size of their representations, in bytes.
    public var bytes: Int

    /// Creates the budget for at most `limit` records, with an average of 2048 bytes per record and at least 64 MiB in
    /// total.
    public init(limit: Int) {
        records = limit
        bytes = max(64 << 20, limit.multipliedReportingOverflow(by: 2048).overflow ? .max : limit * 2048)
    }

    /// Subtracts what a page used.
    public mutating func take(_ page: PageImport) {
        records -= page.counts[page.entity].quarantined
        bytes -= page.quarantinedBytes
    }
}

/// An error for a scan that exceeds its quarantine budget.
public struct QuarantineOverflow: Error, Sendable {
    /// The first quarantined records of the page, for diagnosis.
    public var samples: [QuarantinedRecord]
    /// Whether the size of the records exceeded the budget, rather than their number.
    public var isOfBytes: Bool
}
