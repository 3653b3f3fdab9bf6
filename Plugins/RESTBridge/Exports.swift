// Lets a program that links the bridge write `BridgeExport(RESTBridge.self)` without importing the kit.
@_exported public import class BridgeKit.BridgeExport
