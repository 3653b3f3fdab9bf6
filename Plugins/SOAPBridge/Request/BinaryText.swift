internal import BridgeKit
internal import RecordBatch
internal import TextFormats

/// Converts bytes to text (XSD part 2, sections 3.2.15 and 3.2.16).
enum BinaryText {
    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func base64(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { Base64.encode($0) } }
}
