/// Memory for the values that a mapping creates.
///
/// It is freed as a whole and never moves.
final class Arena {
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    private var used = 0

    deinit { for chunk in chunks { chunk.deallocate() } }

    func copy(_ text: String) -> UnsafeRawBufferPointer {
        var text = text
        return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
    }

    func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer { bytes.withUnsafeBytes { copy($0) } }

    func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard bytes.count > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let target = room(for: bytes.count)
        target.copyMemory(from: bytes)
        return UnsafeRawBufferPointer(target)
    }

    /// Returns a cell for an owned value, copied into the arena.
    func cell(_ value: StoredValue) -> Cell {
        switch value {
        case .null: .null
        case .integer(let value): .integer(value)
        case .boolean(let value): .boolean(value)
        case .real(let value): .real(value)
        case .text(let value): .text(copy(value))
        case .decimal(let value): .decimal(copy(value))
        case .timestamp(let value): .timestamp(copy(value))
        case .date(let value): .date(copy(value))
        case .json(let value): .json(copy(value))
        case .url(let value): .url(copy(value))
        case .uuid(let value): .uuid(copy(value))
        case .bytes(let value): .bytes(copy(value))
        }
    }

    /// Returns room for `count` bytes, at least one.
    func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        if chunks.last.map({ $0.count - used < count }) ?? true {
            chunks.append(.allocate(byteCount: max(count, 64 * 1024), alignment: 16))
            used = 0
        }
        defer { used += count }
        return UnsafeMutableRawBufferPointer(rebasing: chunks[chunks.count - 1][used..<used + count])
    }
}
