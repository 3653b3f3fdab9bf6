internal import CBridge
internal import Glibc
internal import RecordBatch
internal import Synchronization

/// Bytes that a bridge or a pipe made, given back exactly once, when the last reference goes.
///
/// They are unchecked: what they hold is only read through ``RecordBatch/init(adopting:release:)``.
final class ForeignBytes: @unchecked Sendable {
    // The memory is not written after `init`, and the owner is used in `deinit` only.
    private enum Owner {
        case heap(UnsafeMutableRawPointer)
        case plugin(LoadedPlugin, bmo_buffer)
        case batch(RecordBatch)
    }

    let bytes: UnsafeRawBufferPointer
    private let owner: Owner
    private let checked = Mutex<Result<CheckedBytes, RecordBatchError>?>(nil)

    /// Adopts memory from `malloc`.
    init(heap: UnsafeMutableRawPointer, count: Int) {
        bytes = UnsafeRawBufferPointer(start: heap, count: count)
        owner = .heap(heap)
    }

    /// A copy of a text's UTF-8; nil when it is empty.
    convenience init?(copying text: String) {
        var text = text
        guard let copy = text.withUTF8({ utf8 in Self.copy(UnsafeRawBufferPointer(utf8)) }) else { return nil }
        self.init(heap: copy.memory, count: copy.count)
    }

    /// A copy; nil when there is nothing to copy.
    convenience init?(copying bytes: UnsafeRawBufferPointer) {
        guard let copy = Self.copy(bytes) else { return nil }
        self.init(heap: copy.memory, count: copy.count)
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer) -> (memory: UnsafeMutableRawPointer, count: Int)? {
        guard let start = bytes.baseAddress, !bytes.isEmpty, let memory = malloc(bytes.count) else { return nil }
        memory.copyMemory(from: start, byteCount: bytes.count)
        return (memory, bytes.count)
    }

    /// Adopts a buffer that a plugin gave; nil when there is none.
    init?(_ buffer: bmo_buffer, from plugin: LoadedPlugin) {
        guard buffer.data != nil || buffer.owner != nil else { return nil }
        bytes = UnsafeRawBufferPointer(start: buffer.data, count: buffer.data == nil ? 0 : buffer.size)
        owner = .plugin(plugin, buffer)
    }

    /// The bytes of a batch of ours.
    init(_ batch: RecordBatch) {
        bytes = batch.withBytes { $0 }
        owner = .batch(batch)
    }

    deinit {
        switch owner {
        case .heap(let memory): free(memory)
        case .plugin(let plugin, let buffer): plugin.release(buffer)
        case .batch: break
        }
    }

    /// Checks the batch in these bytes, so that ``batch()`` need not.
    func checkAhead() {
        let result = Result { () throws(RecordBatchError) in try CheckedBytes(bytes) }
        checked.withLock { $0 = result }
    }

    /// The batch in these bytes, checked; the bytes live as long as it.
    func batch() throws(RecordBatchError) -> RecordBatch {
        let known = checked.withLock { $0 }
        let checked = if let known { try known.get() } else { try CheckedBytes(bytes) }
        return RecordBatch(adopting: checked) { withExtendedLifetime(self) {} }
    }
}
