/// The version of bmo, which is written only here; `Scripts/package` reads it from `bmo --version`.
package enum ProgramVersion {
    /// The version, as Semantic Versioning 2.0.0 writes it.
    package static let text = "0.2.0"
}
