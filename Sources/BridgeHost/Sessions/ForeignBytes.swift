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

/// Bytes from a bridge or a pipe, released exactly once when the last reference goes away.
///
/// They are not validated; read records only through ``RecordBatch/init(adopting:release:)``.
final class ForeignBytes: @unchecked Sendable {
    // The memory is not written after `init`, and `owner` is used only in `deinit`.
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

    /// Copies a text's UTF-8; nil if it is empty.
    convenience init?(copying text: String) {
        var text = text
        guard let copy = text.withUTF8({ utf8 in Self.copy(UnsafeRawBufferPointer(utf8)) }) else { return nil }
        self.init(heap: copy.memory, count: copy.count)
    }

    /// Copies bytes; nil if there are none.
    convenience init?(copying bytes: UnsafeRawBufferPointer) {
        guard let copy = Self.copy(bytes) else { return nil }
        self.init(heap: copy.memory, count: copy.count)
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer) -> (memory: UnsafeMutableRawPointer, count: Int)? {
        guard let start = bytes.baseAddress, !bytes.isEmpty, let memory = malloc(bytes.count) else { return nil }
        memory.copyMemory(from: start, byteCount: bytes.count)
        return (memory, bytes.count)
    }

    /// Adopts a buffer from a plugin; nil if it is empty.
    init?(_ buffer: bmo_buffer, from plugin: LoadedPlugin) {
        guard buffer.data != nil || buffer.owner != nil else { return nil }
        bytes = UnsafeRawBufferPointer(start: buffer.data, count: buffer.data == nil ? 0 : buffer.size)
        owner = .plugin(plugin, buffer)
    }

    /// Shares the bytes of a batch that the host created.
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

    /// Validates the batch in these bytes ahead of ``batch()``.
    func checkAhead() {
        let result = Result { () throws(RecordBatchError) in try CheckedBytes(bytes) }
        checked.withLock { $0 = result }
    }

    /// Returns the validated batch, which keeps these bytes alive.
    func batch() throws(RecordBatchError) -> RecordBatch {
        let known = checked.withLock { $0 }
        let checked = if let known { try known.get() } else { try CheckedBytes(bytes) }
        return RecordBatch(adopting: checked) { withExtendedLifetime(self) {} }
    }
}
