internal import BridgeKit
public import CBridge

private let export = BridgeExport(SingerBridge.self)

/// Describes this bridge: the contract's first symbol.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// Returns the bridge's functions: the contract's second symbol.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
