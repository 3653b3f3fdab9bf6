/// Memory for the values that a mapping creates.
///
/// It is freed as a whole and never moves.
final class Arena {
    private var chunks: [UnsafeMutableRawBufferPointer] = []
    /// The free rest of the last chunk, in memory of its own: an access to a class's variable calls the runtime's
    /// exclusivity check.
    private let rest = UnsafeMutablePointer<UnsafeMutableRawBufferPointer>.allocate(capacity: 1)

    init() { rest.initialize(to: UnsafeMutableRawBufferPointer(start: nil, count: 0)) }

    deinit {
        for chunk in chunks { chunk.deallocate() }
        rest.deallocate()
    }

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
        if rest.pointee.count < count {
            let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 64 * 1024), alignment: 16)
            chunks.append(chunk)
            rest.pointee = chunk
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: rest.pointee[..<count])
        rest.pointee = UnsafeMutableRawBufferPointer(rebasing: rest.pointee[count...])
        return room
    }
}
