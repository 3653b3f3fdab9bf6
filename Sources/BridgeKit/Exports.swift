// `import BridgeKit` gives a bridge author all that is needed: the writer, its values, and the types of the two
// symbols.
@_exported public import CBridge
@_exported public import RecordBatch
