import BridgeHTTP
import BridgeKit
import RecordBatch
import Testing

/// A client whose options `write` writes.
func client(_ write: (RecordBatchWriter) -> Void = { _ in }) throws -> HTTPClient {
    try HTTPClient(options: HTTPOptions(BridgeOptions(write)), context: BridgeContext())
}

extension RecordBatchWriter {
    func set(_ name: String, _ value: String) {
        key(name)
        text(value)
    }

    func set(_ name: String, _ value: Int) {
        key(name)
        int64(Int64(value))
    }

    func set(_ name: String, _ value: Double) {
        key(name)
        double(value)
    }

    func set(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    func set(_ name: String, _ body: () -> Void) {
        key(name)
        object(body)
    }

    /// The option `auth`.
    func setAuth(_ members: [(String, String)]) {
        set("auth") { for (name, value) in members { set(name, value) } }
    }
}
