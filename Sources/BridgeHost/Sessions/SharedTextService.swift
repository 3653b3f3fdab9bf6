internal import BridgeContract
internal import Digests
internal import RecordBatch
internal import SystemCalls
internal import TextFormats

/// Answers one session's calls of `bmo_host.share`, and has its locks; see `bmo_bridge.h`.
final class SharedTextService: Sendable {
    private let texts: any SharedTexts
    private let bridge: String
    private let plugin: String
    private let state = Mutex(State())

    private struct State {
        var locks: [String: any LockedText] = [:]
        var isClosed = false
        /// All names that the bridge has used: what it saves stays in the database.
        var names: Set<String> = []
    }

    private static let longestName = 128
    private static let longestText = 16 << 10
    private static let mostNames = 16

    /// - Parameter plugin: The plugin, whose bridges alone have these names.
    init(_ texts: any SharedTexts, bridge: String, plugin: String) {
        self.texts = texts
        self.plugin = plugin
        self.bridge = bridge
    }

    /// Answers a call, which may block.
    func answer(_ request: RecordBatch) -> BridgeReply {
        do {
            return .done(try perform(request), nil)
        } catch {
            let failure = error as? BridgeFailure ?? BridgeFailure(.internal, "\(error)", bridge: bridge)
            let writer = RecordBatchWriter()
            failure.error.write(to: writer)
            return .failed((try? writer.finish()).map { ForeignBytes($0) })
        }
    }

    /// Gives all locks back; later calls fail.
    func close() {
        let locks = state.withLock { state in
            state.isClosed = true
            defer { state.locks = [:] }
            return Array(state.locks.values)
        }
        for lock in locks { lock.release() }
    }

    private func perform(_ request: RecordBatch) throws -> ForeignBytes? {
        let record = OwnedRecord(request)
        guard let name = record?.text("name"), (1...Self.longestName).contains(name.utf8.count) else {
            throw refusal("a shared text needs a name of 1 to \(Self.longestName) bytes")
        }
        switch record?.text("operation") {
        case "lock": return try lock(name)
        case "save":
            guard let value = record?.text("value"), value.utf8.count <= Self.longestText else {
                throw refusal("a shared text has at most \(Self.longestText) bytes")
            }
            guard let lock = state.withLock({ $0.locks[name] }) else {
                throw refusal("a shared text was saved without its lock")
            }
            try lock.save(value)
        case "release": state.withLock { $0.locks.removeValue(forKey: name) }?.release()
        default: throw refusal("unknown operation of a shared text")
        }
        return nil
    }

    private func lock(_ name: String) throws -> ForeignBytes? {
        try state.withLock { state in
            guard state.names.contains(name) || state.names.count < Self.mostNames else {
                throw refusal("more than \(Self.mostNames) shared texts of one bridge")
            }
            state.names.insert(name)
        }
        // The bridge's name can hold any character.
        let lock = try texts.lock("\(plugin)-\(Hexadecimal.text(MessageDigest.digest(of: Array(name.utf8), .sha256)))")
        let isKept = state.withLock { state in
            guard !state.isClosed, state.locks[name] == nil else { return false }
            state.locks[name] = lock
            return true
        }
        guard isKept else {
            lock.release()
            throw BridgeFailure.cancelled(bridge)
        }
        let writer = RecordBatchWriter()
        writer.object {
            writer.member("value", lock.value)
        }
        return ForeignBytes(try writer.finish())
    }

    private func refusal(_ reason: String) -> BridgeFailure {
        BridgeFailure(.internal, reason, bridge: bridge, remedy: "report it to the bridge's author")
    }
}
