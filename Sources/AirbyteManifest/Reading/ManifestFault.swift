/// The reason why a manifest cannot be read.
package struct ManifestFault: Error, CustomStringConvertible {
    /// What is wrong, and what the user can do.
    package let description: String

    package init(_ description: String) { self.description = description }
}
