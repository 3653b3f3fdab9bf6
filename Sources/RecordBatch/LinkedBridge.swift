public import CBridge

/// A bridge that is part of the program itself: what a plugin's library exports, without the library.
///
/// A bridge in Swift is one by BridgeKit's `BridgeExport(MyBridge.self)`; one in C by a type that returns what its
/// `bmo_bridge_info_v1` and `bmo_bridge_entry_v1` return.
public protocol LinkedBridge: Sendable {
    /// Who the bridge is: as `bmo_bridge_info_v1`, in storage that lives as long as the program.
    var info: UnsafePointer<bmo_bridge_info>? { get }

    /// The bridge's functions, or nil when it refuses this host: as `bmo_bridge_entry_v1`.
    func table(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>?
}
