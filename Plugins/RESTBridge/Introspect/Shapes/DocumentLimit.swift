/// The limit for what an introspection reads.
enum DocumentLimit {
    /// The largest batch of a document: OpenAPI documents of large products take tens of megabytes.
    static let bytes = 128 << 20
}
