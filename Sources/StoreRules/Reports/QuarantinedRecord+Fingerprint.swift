package import Mapping
package import StoreContract
internal import TextFormats

extension QuarantinedRecord {
    /// The number by which a store recognises a record that fails repeatedly for the same reason.
    package var fingerprint: Int64 { Self.fingerprint(reason, representation, source, parent) }

    /// Returns the number of a record that is copied as a row of `ContentTable`.
    package static func fingerprint(ofCopied row: [StoredValue]) -> Int64 {
        func text(_ place: Int) -> String? { if case .text(let text) = row[place].form { text } else { nil } }
        return fingerprint(text(5) ?? "", text(6) ?? "", text(11), text(12))
    }

    private static func fingerprint(
        _ reason: String, _ representation: String, _ source: String?, _ parent: String?
    ) -> Int64 {
        var fingerprint = Fingerprint()
        fingerprint.add(reason)
        fingerprint.separate()
        fingerprint.add(representation)
        // Others keep the number that they had before sources and parents were recorded.
        for text in [source, parent] {
            guard let text, !text.isEmpty else { continue }
            fingerprint.separate()
            fingerprint.add(text)
        }
        return Int64(bitPattern: fingerprint.value)
    }
}
