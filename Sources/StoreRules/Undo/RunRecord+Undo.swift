package import StoreContract

extension RunRecord {
    /// Returns the error for a run that does not exist.
    package static func missing(_ id: Int64) -> StoreError {
        StoreError(.request, "there is no run \(id)", remedy: "`bmo runs` lists those that are kept")
    }
}
