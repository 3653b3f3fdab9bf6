/// The limit for what an introspection reads.
package enum DocumentLimit {
    /// The largest batch of a document: OpenAPI documents of large products take tens of megabytes.
    package static let bytes = 128 << 20
}
