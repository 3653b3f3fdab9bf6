public import CBridge

/// A bridge linked into the program: what a plugin's library exports, without the library.
///
/// BridgeKit's `BridgeExport(MyBridge.self)` makes one from a Swift bridge. For a bridge in C, conform a type that
/// returns the results of its `bmo_bridge_info_v1` and `bmo_bridge_entry_v1`.
public protocol LinkedBridge: Sendable {
    /// The bridge's identity: as `bmo_bridge_info_v1`, in storage that lives as long as the program.
    var info: UnsafePointer<bmo_bridge_info>? { get }

    /// Returns the bridge's functions, or nil to refuse this host: as `bmo_bridge_entry_v1`.
    func table(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>?
}
