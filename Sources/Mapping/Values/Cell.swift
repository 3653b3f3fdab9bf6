/// One local value of a mixed representation, in one of the four storage classes that every store supports.
///
/// Text and bytes point into the record batch or the page's arena, and are valid as long as the ``MixedPage`` is alive.
public struct Cell: @unchecked Sendable {
    // Sendable because a cell is plain bits. Readers of the memory it points to hold the page, which no other thread
    // writes.
    /// The storage class, or one of the two states without a value.
    public enum Kind: UInt8, Sendable {
        /// The record does not mention the value: keep the local one.
        case absent
        /// The record sets the value to null.
        case null
        case integer, real, text, bytes
    }

    /// The storage class.
    public let kind: Kind
    /// Whether the value applies only where none is stored, because another source takes precedence.
    public private(set) var isFallback = false
    /// The number of bytes of a text or bytes value.
    public let length: UInt32
    @usableFromInline let payload: UInt64

    @inlinable
    init(kind: Kind, length: UInt32, payload: UInt64) {
        self.kind = kind
        self.length = length
        self.payload = payload
    }

    /// A value that the record does not mention.
    public static let absent = Cell(kind: .absent, length: 0, payload: 0)
    /// A value that the record sets to null.
    public static let null = Cell(kind: .null, length: 0, payload: 0)

    /// Creates an integer cell.
    @inlinable
    public static func integer(_ value: Int64) -> Cell {
        Cell(kind: .integer, length: 0, payload: UInt64(bitPattern: value))
    }

    /// Creates a cell of a real number.
    @inlinable
    public static func real(_ value: Double) -> Cell { Cell(kind: .real, length: 0, payload: value.bitPattern) }

    /// Creates a cell of UTF-8 text stored elsewhere.
    @inlinable
    public static func text(_ bytes: UnsafeRawBufferPointer) -> Cell { span(.text, bytes) }

    /// Creates a cell of bytes stored elsewhere.
    @inlinable
    public static func bytes(_ bytes: UnsafeRawBufferPointer) -> Cell { span(.bytes, bytes) }

    @inlinable
    static func span(_ kind: Kind, _ bytes: UnsafeRawBufferPointer) -> Cell {
        Cell(
            kind: kind, length: UInt32(truncatingIfNeeded: bytes.count),
            payload: UInt64(UInt(bitPattern: bytes.baseAddress)))
    }

    /// The same value, marked as a fallback.
    var asFallback: Cell {
        var cell = self
        cell.isFallback = true
        return cell
    }

    /// The value of a cell of kind ``Kind/integer``.
    @inlinable
    public var integer: Int64 { Int64(bitPattern: payload) }

    /// The value of a cell of kind ``Kind/real``.
    @inlinable
    public var real: Double { Double(bitPattern: payload) }

    /// The bytes of a cell of kind ``Kind/text`` or ``Kind/bytes``.
    @inlinable
    public var rawBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(payload)), count: Int(length))
    }

    /// Returns whether the cell has a value equal to `value`; see ``StoredValue/==(_:_:)``.
    public func equals(_ value: StoredValue) -> Bool {
        switch (kind, value) {
        case (.null, .null): true
        case (.integer, .integer(let other)): integer == other
        case (.real, .real(let other)): real == other
        case (.text, .text(let other)): other.utf8.count == Int(length) && other.utf8.elementsEqual(rawBytes)
        case (.bytes, .bytes(let other)): other.count == Int(length) && other.elementsEqual(rawBytes)
        default: false
        }
    }

    /// An owned copy of the value, which may outlive the page; nil when absent.
    public var value: StoredValue? {
        switch kind {
        case .absent: nil
        case .null: .null
        case .integer: .integer(integer)
        case .real: .real(real)
        case .text: .text(String(decoding: rawBytes, as: UTF8.self))
        case .bytes: .bytes(Array(rawBytes))
        }
    }
}

/// A local value that owns its storage.
public enum StoredValue: Hashable, Sendable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    /// Returns whether two values have the same storage class and value.
    ///
    /// Texts are compared byte by byte, as a store compares keys, not by Unicode equivalence.
    public static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .bytes(let value): hasher.combine(value)
        }
    }

    /// The value as a user would type it.
    public var description: String {
        switch self {
        case .null: "null"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .bytes(let value): "\(value.count) bytes"
        }
    }
}

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
        case .real(let value): .real(value)
        case .text(let value): .text(copy(value))
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
