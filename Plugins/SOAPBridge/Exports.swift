// Lets a program that links the bridge write `BridgeExport(SOAPBridge.self)` without importing the kit.
@_exported public import class BridgeKit.BridgeExport
