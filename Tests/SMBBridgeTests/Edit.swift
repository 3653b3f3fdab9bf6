import BridgeKit
import RecordBatch
import SMBBridge
import TestLiterals

/// One write, with all that a host says about the object.
struct Edit {
    var operation: WriteRequest.Operation
    var section: Literal
    var key: Literal = [:]
    var values: Literal = [:]
    /// The local values after the edit.
    var object: Literal = [:]
    /// The remote's values that an update replaces.
    var before: Literal = [:]
    /// What the local names read.
    var paths: [String: [String]] = [:]
    var members: [String] = []

    /// Writes, and gives the answer as member name to JSON text.
    @discardableResult
    func send(to bridge: SMBBridge) throws -> [String: String] {
        let keys = BridgeOptions(key)
        var request = WriteRequest(
            operation, entity: "Document", section: BridgeOptions(section), key: keys, values: BridgeOptions(values),
            object: BridgeOptions(object))
        request.before = BridgeOptions(before)
        request.objectPaths = paths
        request.keyPaths = paths.filter { keys.names.contains($0.key) }
        request.members = members
        let writer = RecordBatchWriter()
        try bridge.write(request, into: writer)
        let batch = try writer.finish()
        guard batch.count == 1 else { return [:] }
        return Dictionary(batch[0].members.map { ($0.key, $0.value.json) }, uniquingKeysWith: { $1 })
    }
}

extension SMBServer {
    /// The text of a file that anybody may write; nil if it is missing.
    func content(_ path: String) -> String? {
        (try? Self.read(writable + "/" + path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
