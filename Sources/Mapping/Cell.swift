/// One local value of a mixed representation, in the four storage classes that every store has.
///
/// Text and bytes point into the record batch or into the page's arena: valid as long as the ``MixedPage`` lives.
public struct Cell: @unchecked Sendable {
    // A cell is plain bits; who reads what it points to must hold the page, which no other thread writes.
    /// The storage class, or the two states that are not values.
    public enum Kind: UInt8, Sendable {
        /// The remote said nothing: leave the local value as it is.
        case absent
        /// The remote cleared it.
        case null
        case integer, real, text, bytes
    }

    /// The storage class.
    public let kind: Kind
    /// Whether the value counts only where there is none yet: another source goes before.
    public private(set) var isFallback = false
    /// Bytes of a text or bytes value.
    public let length: UInt32
    @usableFromInline let payload: UInt64

    @inlinable
    init(kind: Kind, length: UInt32, payload: UInt64) {
        self.kind = kind
        self.length = length
        self.payload = payload
    }

    /// A value that the remote did not mention.
    public static let absent = Cell(kind: .absent, length: 0, payload: 0)
    /// A value that the remote cleared.
    public static let null = Cell(kind: .null, length: 0, payload: 0)

    /// An integer.
    @inlinable
    public static func integer(_ value: Int64) -> Cell {
        Cell(kind: .integer, length: 0, payload: UInt64(bitPattern: value))
    }

    /// A real number.
    @inlinable
    public static func real(_ value: Double) -> Cell { Cell(kind: .real, length: 0, payload: value.bitPattern) }

    /// UTF-8 text that lives elsewhere.
    @inlinable
    public static func text(_ bytes: UnsafeRawBufferPointer) -> Cell { span(.text, bytes) }

    /// Bytes that live elsewhere.
    @inlinable
    public static func bytes(_ bytes: UnsafeRawBufferPointer) -> Cell { span(.bytes, bytes) }

    @inlinable
    static func span(_ kind: Kind, _ bytes: UnsafeRawBufferPointer) -> Cell {
        Cell(
            kind: kind, length: UInt32(truncatingIfNeeded: bytes.count),
            payload: UInt64(UInt(bitPattern: bytes.baseAddress)))
    }

    /// The same value, which counts only where there is none yet.
    var asFallback: Cell {
        var cell = self
        cell.isFallback = true
        return cell
    }

    /// The integer of ``Kind/integer``.
    @inlinable
    public var integer: Int64 { Int64(bitPattern: payload) }

    /// The number of ``Kind/real``.
    @inlinable
    public var real: Double { Double(bitPattern: payload) }

    /// The bytes of ``Kind/text`` or ``Kind/bytes``.
    @inlinable
    public var rawBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(payload)), count: Int(length))
    }

    /// Whether this is a value and the other is the same one; see ``StoredValue/==(_:_:)``.
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

    /// The value as an owned one, for what outlives the page.
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

    /// Equal values of one storage class; texts byte by byte, as a store compares keys, and not as letters look.
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

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .bytes(let value): hasher.combine(value)
        }
    }

    /// The value as a person would type it.
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

/// Memory for values that a mapping made: freed at once, never moved.
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

    /// A cell of an owned value.
    func cell(_ value: StoredValue) -> Cell {
        switch value {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let value): .text(copy(value))
        case .bytes(let value): .bytes(copy(value))
        }
    }

    /// Room for so many bytes, at least one.
    func room(for count: Int) -> UnsafeMutableRawBufferPointer {
        if chunks.last.map({ $0.count - used < count }) ?? true {
            chunks.append(.allocate(byteCount: max(count, 64 * 1024), alignment: 16))
            used = 0
        }
        defer { used += count }
        return UnsafeMutableRawBufferPointer(rebasing: chunks[chunks.count - 1][used..<used + count])
    }
}
