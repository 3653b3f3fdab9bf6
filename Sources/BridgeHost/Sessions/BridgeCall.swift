internal import RecordBatch

/// A call from the host to an instance.
///
/// The host chooses the number of each fetch.
enum BridgeCall: Sendable {
    case check
    case discover
    case write(RecordBatch)
    case fetchOpen(UInt32, RecordBatch)
    case fetchNext(UInt32)
    case fetchClose(UInt32)
}
