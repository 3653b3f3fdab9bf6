import BridgeKit
public import CBridge

private let export = BridgeExport(SMBBridge.self)

/// Returns this plugin's identity; read first.
@c(bmo_bridge_info_v1)
public func bridgeInfo() -> UnsafePointer<bmo_bridge_info>? { export.info }

/// Returns this plugin's function table, or nil for a host of another major version.
@c(bmo_bridge_entry_v1)
public func bridgeEntry(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
    export.table(major: major, minor: minor)
}
