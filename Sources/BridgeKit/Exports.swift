// `import BridgeKit` gives a bridge author all that is needed: the messages, the writer, its values, the tape of
// exchanges, and the types of the two symbols.
@_exported public import BridgeContract
@_exported public import BridgeRecording
@_exported public import CBridge
@_exported public import RecordBatch
