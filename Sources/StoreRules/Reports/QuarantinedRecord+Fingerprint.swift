internal import StoreContract
internal import TextFormats

extension QuarantinedRecord {
    /// Returns the number by which a store recognises a record that fails repeatedly for the same reason.
    package static func fingerprint(_ reason: String, _ representation: String) -> Int64 {
        var fingerprint = Fingerprint()
        fingerprint.add(reason)
        fingerprint.separate()
        fingerprint.add(representation)
        return Int64(bitPattern: fingerprint.value)
    }
}
