package import RecordBatch
package import StoreContract

extension RecordBatch {
    /// The digest of the whole batch, by which a later scan recognises it.
    package var digest: BatchDigest { withBytes { BatchDigest(of: $0) } }
}
