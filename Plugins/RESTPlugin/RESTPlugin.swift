internal import BridgeKit
public import CBridge
internal import RESTBridge

// The contract's two symbols for `RESTBridge`. Plugins export them; programs that link the bridge must not.

private let export = BridgeExport(RESTBridge.self)

/// The bridge's descriptor, the contract's first symbol.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// The bridge's functions, the contract's second symbol.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
