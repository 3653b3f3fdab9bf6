/// The remote's information about a page.
public struct PageMetadata: Sendable, Equatable {
    /// The remote's total number of records.
    public var total: Int64?
    /// The URL or path, without secrets.
    public var location: String?
    /// Further information: a JSON object's text.
    public var json: String?
}
