// A request is the contract's, and so are the codes of a failure.
@_exported public import BridgeContract
