internal import BridgeRecording
public import CBridge
public import RecordBatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The C interface of a Swift bridge: the values that its two exported functions return.
///
/// Make one per plugin, in a global. A program that links the bridge statically passes it to its host instead.
public final class BridgeExport: LinkedBridge, @unchecked Sendable {
    // Both structs are written only in `init`, and live as long as the process.
    /// The result of `bmo_bridge_info_v1`.
    public let info: UnsafePointer<bmo_bridge_info>?
    private let tablePointer: UnsafePointer<bmo_bridge_table>
    let descriptor: BridgeDescriptor
    let make: @Sendable (BridgeOptions, BridgeContext) throws -> any Bridge

    /// Exports a bridge.
    public convenience init(_ type: any Bridge.Type) {
        self.init(type.descriptor) { try type.init(options: $0, context: $1) }
    }

    /// Exports a bridge whose instances a closure makes.
    package init(
        _ descriptor: BridgeDescriptor, make: @escaping @Sendable (BridgeOptions, BridgeContext) throws -> any Bridge
    ) {
        self.descriptor = descriptor
        self.make = make
        let info = UnsafeMutablePointer<bmo_bridge_info>.allocate(capacity: 1)
        info.initialize(
            to: bmo_bridge_info(
                magic: UInt64(BMO_BRIDGE_MAGIC), struct_size: UInt32(MemoryLayout<bmo_bridge_info>.size),
                abi_major: UInt16(BMO_BRIDGE_ABI_MAJOR), abi_minor: UInt16(BMO_BRIDGE_ABI_MINOR),
                name: strdup(descriptor.name), version: strdup(descriptor.version),
                kit: strdup("BridgeKit \(BMO_BRIDGE_ABI_MAJOR).\(BMO_BRIDGE_ABI_MINOR)"), compiler: strdup("swift")))
        self.info = UnsafePointer(info)
        let table = UnsafeMutablePointer<bmo_bridge_table>.allocate(capacity: 1)
        tablePointer = UnsafePointer(table)
        table.initialize(to: BridgeTable.table())
        table.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Returns the result of `bmo_bridge_entry_v1`: nil for another major version.
    public func table(major: UInt16, minor: UInt16) -> UnsafePointer<bmo_bridge_table>? {
        major == UInt16(BMO_BRIDGE_ABI_MAJOR) ? tablePointer : nil
    }
}

/// The host's handle to an instance.
final class InstanceBox {
    let bridge: any Bridge

    init(_ bridge: any Bridge) { self.bridge = bridge }
}

/// The host's handle to a fetch.
final class FetchBox {
    let source: any RecordSource
    let scope: ExchangeScope
    let writer = RecordBatchWriter()

    init(_ source: any RecordSource, _ scope: ExchangeScope) {
        self.source = source
        self.scope = scope
    }
}
