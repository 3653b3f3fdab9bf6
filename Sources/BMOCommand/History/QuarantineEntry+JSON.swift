internal import RecordBatch
internal import StoreContract

extension QuarantineEntry {
    /// The entry as a JSON object, for `bmo quarantine list` and `bmo why`.
    var json: String {
        RecordBatchWriter.json { writer in
            writer.member("id", Int(id))
            writer.member("entity", record.entity)
            writer.member("bridge", record.bridge)
            writer.member("page", record.page)
            writer.member("record", record.record)
            writer.member("reason", record.reason)
            writer.member("location", record.location)
            writer.member("representation", record.representation)
            writer.member("cut_from", record.cutFrom)
            writer.member("first_seen", firstSeen)
            writer.member("last_seen", lastSeen)
        }
    }
}
