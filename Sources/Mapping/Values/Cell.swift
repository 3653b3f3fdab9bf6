#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// One local value of a mixed representation, with its type.
///
/// Text and bytes point into the record batch or the page's arena, and are valid as long as the ``MixedPage`` is alive.
public struct Cell: @unchecked Sendable {
    // Sendable because a cell is plain bits. Readers of the memory it points to hold the page, which no other thread
    // writes.
    /// The type of the value, or one of the two states without a value.
    public enum Kind: UInt8, Sendable {
        /// The record does not mention the value: keep the local one.
        case absent
        /// The record sets the value to null.
        case null
        /// A value of the attribute type of this name.
        case integer, boolean, real, text, decimal, timestamp, date, json, url, uuid, bytes

        /// How the payload is kept, and how a store without this type keeps the value.
        @inlinable public var storage: StorageClass {
            switch self {
            case .absent: .absent
            case .null: .null
            case .integer, .boolean: .integer
            case .real: .real
            case .text, .decimal, .timestamp, .date, .json, .url, .uuid: .text
            case .bytes: .bytes
            }
        }
    }

    /// How the payload of a cell is kept: a boolean is an integer, and a decimal, time or UUID its canonical text.
    public enum StorageClass: UInt8, Sendable {
        /// No value: the record does not mention it, or sets it to null.
        case absent, null
        /// A number, or bytes in UTF-8 or of any kind.
        case integer, real, text, bytes
    }

    /// The type.
    public let kind: Kind
    /// Whether the value applies only where none is stored, because another source takes precedence.
    public private(set) var isFallback = false
    /// Whether the value is a JSON object whose members replace those of the stored one; the others stay.
    public private(set) var isPatch = false
    /// The number of bytes of a value of the storage class text or bytes.
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

    /// Creates a boolean cell.
    @inlinable
    public static func boolean(_ value: Bool) -> Cell { Cell(kind: .boolean, length: 0, payload: value ? 1 : 0) }

    /// Creates a cell of a real number.
    @inlinable
    public static func real(_ value: Double) -> Cell { Cell(kind: .real, length: 0, payload: value.bitPattern) }

    /// Creates a cell of UTF-8 text stored elsewhere.
    @inlinable
    public static func text(_ bytes: UnsafeRawBufferPointer) -> Cell { span(.text, bytes) }

    /// Creates a cell of a decimal, whose text has neither an exponent nor a `+`, stored elsewhere.
    @inlinable
    public static func decimal(_ text: UnsafeRawBufferPointer) -> Cell { span(.decimal, text) }

    /// Creates a cell of an instant, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`, stored elsewhere.
    @inlinable
    public static func timestamp(_ text: UnsafeRawBufferPointer) -> Cell { span(.timestamp, text) }

    /// Creates a cell of a day, as `YYYY-MM-DD`, stored elsewhere.
    @inlinable
    public static func date(_ text: UnsafeRawBufferPointer) -> Cell { span(.date, text) }

    /// Creates a cell of JSON text, stored elsewhere.
    @inlinable
    public static func json(_ text: UnsafeRawBufferPointer) -> Cell { span(.json, text) }

    /// Creates a cell of a URL, stored elsewhere.
    @inlinable
    public static func url(_ text: UnsafeRawBufferPointer) -> Cell { span(.url, text) }

    /// Creates a cell of a UUID, in lower case with hyphens, stored elsewhere.
    @inlinable
    public static func uuid(_ text: UnsafeRawBufferPointer) -> Cell { span(.uuid, text) }

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

    /// The same value, marked as a part of the stored object.
    package var asPatch: Cell {
        var cell = self
        cell.isPatch = true
        return cell
    }

    /// How the payload is kept.
    @inlinable public var storage: StorageClass { kind.storage }

    /// The value of a cell of the storage class ``StorageClass/integer``; 0 or 1 for a boolean.
    @inlinable
    public var integer: Int64 { Int64(bitPattern: payload) }

    /// The value of a cell of kind ``Kind/real``.
    @inlinable
    public var real: Double { Double(bitPattern: payload) }

    /// The bytes of a cell of the storage class ``StorageClass/text`` or ``StorageClass/bytes``.
    @inlinable
    public var rawBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(payload)), count: Int(length))
    }

    /// Returns whether the cell has a value equal to `value`; see ``StoredValue/==(_:_:)``.
    public func equals(_ value: StoredValue) -> Bool {
        switch (storage, value.form) {
        case (.null, .null): true
        case (.integer, .integer(let other)): integer == other
        case (.real, .real(let other)): real == other
        case (.text, .text(let other)): other.utf8.count == Int(length) && Self.isSame(other, rawBytes)
        case (.bytes, .bytes(let other)): other.count == Int(length) && other.elementsEqual(rawBytes)
        default: false
        }
    }

    private static func isSame(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { utf8 in
            guard let start = utf8.baseAddress, let other = bytes.baseAddress else { return bytes.isEmpty }
            return memcmp(start, other, bytes.count) == 0
        } ?? text.utf8.elementsEqual(bytes)
    }

    /// An owned copy of the value, which may outlive the page; nil when absent.
    public var value: StoredValue? {
        switch kind {
        case .absent: nil
        case .null: .null
        case .integer: .integer(integer)
        case .boolean: .boolean(integer != 0)
        case .real: .real(real)
        case .text: .text(text)
        case .decimal: .decimal(text)
        case .timestamp: .timestamp(text)
        case .date: .date(text)
        case .json: .json(text)
        case .url: .url(text)
        case .uuid: .uuid(text)
        case .bytes: .bytes(Array(rawBytes))
        }
    }

    private var text: String { String(decoding: rawBytes, as: UTF8.self) }
}
