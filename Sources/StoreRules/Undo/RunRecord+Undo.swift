internal import RecordBatch
package import StoreContract

extension RunRecord {
    /// Returns the error for a run that does not exist.
    package static func missing(_ id: Int64) -> StoreError {
        StoreError(.request, "there is no run \(id)", remedy: "`bmo runs` lists those that are kept")
    }

    /// Returns whether the run is a migration that deleted recorded changes of another run.
    package func hasForgotten(_ run: Int64) -> Bool {
        guard kind == "migrate", let summary, let batch = try? JSONParser.batch(summary), batch.count == 1 else {
            return false
        }
        return withExtendedLifetime(batch) {
            (batch[0][SchemaPlan.forgottenMember]?.elements ?? []).contains { $0.integer == run }
        }
    }
}
