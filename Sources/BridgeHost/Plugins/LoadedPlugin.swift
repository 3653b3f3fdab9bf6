internal import CBridge
internal import RecordBatch
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A plugin in this process, after the handshake.
///
/// A plugin is never unloaded, so its table is valid for the life of the process. A linked bridge's table is valid for
/// the life of this object.
final class LoadedPlugin: @unchecked Sendable {
    // Immutable. BridgeInstance keeps the contract's rules on which thread may call which function.
    let identity: PluginIdentity
    let table: bmo_bridge_table
    /// The object behind a linked bridge's table, retained for as long as the table may be used.
    private let owner: (any LinkedBridge)?

    private init(identity: PluginIdentity, table: bmo_bridge_table, owner: (any LinkedBridge)? = nil) {
        self.identity = identity
        self.table = table
        self.owner = owner
    }

    #if PLUGINS
    /// The plugins loaded from sealed copies; the loader would treat a second copy as another library.
    private static let sealed = Mutex<[String: LoadedPlugin]>([:])

    /// Loads the library at `path` and performs the handshake.
    ///
    /// Loading runs the library's constructors: load an untrusted file in a child process.
    ///
    /// - Parameters:
    ///   - digest: The pinned SHA-256, if any; a sealed copy with that digest is loaded.
    ///   - links: A private folder of this process for the links around a pinned file.
    static func load(
        _ path: String, digest: String? = nil, links: @autoclosure () -> String? = nil
    ) throws(PluginRefusal) -> LoadedPlugin {
        guard let digest else { return try open(path) }
        if let known = sealed.withLock({ $0[path + digest] }) { return known }
        let library = try PinnedLibrary(path, digest: digest, links: links())
        // The path is valid for as long as the copy is.
        defer { withExtendedLifetime(library) {} }
        let plugin = try open(library.path)
        sealed.withLock { $0[path + digest] = plugin }
        return plugin
    }

    private static func open(_ path: String) throws(PluginRefusal) -> LoadedPlugin {
        // A Swift plugin's metadata stays in use forever, hence RTLD_NODELETE and no dlclose.
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw PluginRefusal(reason: "cannot be loaded: \(text(dlerror(), limit: 1000))")
        }
        guard let infoSymbol = dlsym(library, BMO_BRIDGE_INFO_SYMBOL) else {
            throw PluginRefusal(reason: "not a bridge: it has no symbol \(BMO_BRIDGE_INFO_SYMBOL)")
        }
        guard let entrySymbol = dlsym(library, BMO_BRIDGE_ENTRY_SYMBOL) else {
            throw PluginRefusal(reason: "not a bridge: it has no symbol \(BMO_BRIDGE_ENTRY_SYMBOL)")
        }
        typealias InfoFunction = @convention(c) () -> UnsafePointer<bmo_bridge_info>?
        typealias EntryFunction = @convention(c) (UInt16, UInt16) -> UnsafePointer<bmo_bridge_table>?
        let identity = try identity(unsafeBitCast(infoSymbol, to: InfoFunction.self)())
        let major = UInt16(BMO_BRIDGE_ABI_MAJOR)
        let minor = UInt16(BMO_BRIDGE_ABI_MINOR)
        guard let table = unsafeBitCast(entrySymbol, to: EntryFunction.self)(major, minor) else {
            throw PluginRefusal(
                reason: "\(BMO_BRIDGE_ENTRY_SYMBOL) returned NULL: the bridge refuses a host of ABI \(major).\(minor)")
        }
        return LoadedPlugin(identity: identity, table: try complete(table))
    }
    #endif

    /// Performs the handshake with a linked bridge.
    static func link(_ bridge: any LinkedBridge) throws(PluginRefusal) -> LoadedPlugin {
        let identity = try identity(bridge.info)
        let major = UInt16(BMO_BRIDGE_ABI_MAJOR)
        let minor = UInt16(BMO_BRIDGE_ABI_MINOR)
        guard let table = bridge.table(major: major, minor: minor) else {
            throw PluginRefusal(reason: "it gives no table: the bridge refuses a host of ABI \(major).\(minor)")
        }
        return LoadedPlugin(identity: identity, table: try complete(table), owner: bridge)
    }

    private static func identity(_ pointer: UnsafePointer<bmo_bridge_info>?) throws(PluginRefusal) -> PluginIdentity {
        guard let pointer else { throw PluginRefusal(reason: "\(BMO_BRIDGE_INFO_SYMBOL) returned NULL") }
        let raw = UnsafeRawPointer(pointer)
        let magic = raw.loadUnaligned(as: UInt64.self)
        guard magic == UInt64(BMO_BRIDGE_MAGIC) else {
            throw PluginRefusal(
                reason: "not a bridge: wrong magic 0x\(String(magic, radix: 16)), "
                    + "not 0x\(String(BMO_BRIDGE_MAGIC, radix: 16))")
        }
        // The major version determines the layout of the rest, so check it before the size.
        let major = raw.loadUnaligned(fromByteOffset: 12, as: UInt16.self)
        let minor = raw.loadUnaligned(fromByteOffset: 14, as: UInt16.self)
        guard Int32(major) == BMO_BRIDGE_ABI_MAJOR else {
            throw PluginRefusal(
                reason: "built for ABI \(major).\(minor); this host speaks ABI "
                    + "\(BMO_BRIDGE_ABI_MAJOR).\(BMO_BRIDGE_ABI_MINOR): install a build of the bridge for it")
        }
        let size = Int(raw.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        let needed = MemoryLayout<bmo_bridge_info>.size
        guard size >= needed else {
            throw PluginRefusal(reason: "struct too small: bmo_bridge_info has \(size) bytes, ABI 1.0 has \(needed)")
        }
        let info = pointer.pointee
        let name = text(info.name, limit: 64)
        guard isName(name) else {
            throw PluginRefusal(reason: "its name `\(name)` does not match [a-z][a-z0-9_-]{0,31}")
        }
        return PluginIdentity(
            name: name, version: text(info.version, limit: 128), abiMajor: major, abiMinor: minor,
            kit: text(info.kit, limit: 128), compiler: text(info.compiler, limit: 128))
    }

    private static func complete(
        _ pointer: UnsafePointer<bmo_bridge_table>
    ) throws(PluginRefusal) -> bmo_bridge_table {
        let size = Int(UnsafeRawPointer(pointer).loadUnaligned(as: UInt32.self))
        let needed = MemoryLayout<bmo_bridge_table>.size
        guard size >= needed else {
            throw PluginRefusal(reason: "struct too small: bmo_bridge_table has \(size) bytes, ABI 1.0 has \(needed)")
        }
        let table = pointer.pointee
        let required: [(String, Bool)] = [
            ("describe", table.describe == nil), ("open", table.open == nil), ("close", table.close == nil),
            ("check", table.check == nil), ("discover", table.discover == nil),
            ("fetch_open", table.fetch_open == nil), ("fetch_next", table.fetch_next == nil),
            ("fetch_close", table.fetch_close == nil), ("write", table.write == nil),
            ("cancel", table.cancel == nil), ("release", table.release == nil),
        ]
        let missing = required.filter(\.1).map(\.0)
        guard missing.isEmpty else {
            throw PluginRefusal(reason: "its table has no function for \(missing.joined(separator: ", "))")
        }
        return table
    }

    static func isName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (1...32).contains(name.utf8.count) else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        return letters.contains(first)
            && name.utf8.allSatisfy {
                letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
            }
    }

    /// Returns a plugin's C string, truncated to `limit` bytes.
    private static func text(_ pointer: UnsafePointer<CChar>?, limit: Int) -> String {
        guard let pointer else { return "" }
        let bytes = UnsafeRawBufferPointer(start: pointer, count: strnlen(pointer, limit))
        return String(decoding: bytes, as: UTF8.self).onOneLine
    }

    // MARK: Calls

    func release(_ buffer: bmo_buffer) { table.release?(table.context, buffer) }
}
