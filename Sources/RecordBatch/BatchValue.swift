public import CBridge

/// One value inside a record batch, read in place.
///
/// Valid only while its batch lives.
public struct BatchValue {
    @usableFromInline let slot: UnsafePointer<bmo_slot>
    @usableFromInline let sections: UnsafePointer<BatchSections>

    @inlinable
    init(slot: UnsafePointer<bmo_slot>, sections: UnsafePointer<BatchSections>) {
        self.slot = slot
        self.sections = sections
    }

    /// The kind of a value.
    public enum Tag: UInt8, Sendable {
        /// The value is null.
        case null = 1
        /// A value of its own; a decimal is text, and a timestamp counts microseconds since 1970.
        case bool, int64, double, decimal, text, bytes, timestamp
        /// A value with values in it.
        case array, object
    }

    /// The kind of this value.
    @inlinable @inline(__always)
    public var tag: Tag {
        // `Tag(rawValue:)` would be a call.
        switch slot.pointee.head & 0xFF {
        case 2: .bool
        case 3: .int64
        case 4: .double
        case 5: .decimal
        case 6: .text
        case 7: .bytes
        case 8: .timestamp
        case 9: .array
        case 10: .object
        default: .null
        }
    }

    /// The index of the key under which an object holds this value; `BMO_NO_KEY` elsewhere.
    @inlinable
    public var keyIndex: UInt32 { slot.pointee.head >> 8 }

    /// The bool of a ``Tag/bool``.
    @inlinable
    public var bool: Bool { slot.pointee.payload != 0 }

    /// The integer of an ``Tag/int64``; the microseconds since 1970 of a ``Tag/timestamp``.
    @inlinable
    public var int64: Int64 { Int64(bitPattern: slot.pointee.payload) }

    /// The number of a ``Tag/double``.
    @inlinable
    public var double: Double { Double(bitPattern: slot.pointee.payload) }

    /// The bytes of a ``Tag/text``, ``Tag/decimal`` (UTF-8) or ``Tag/bytes``.
    @inlinable @inline(__always)
    public var rawBytes: UnsafeRawBufferPointer {
        let start = tag == .bytes ? sections.pointee.bytes : sections.pointee.text
        return UnsafeRawBufferPointer(start: start + Int(slot.pointee.payload), count: Int(slot.pointee.length))
    }

    /// The text of a ``Tag/text`` or ``Tag/decimal``, copied.
    public var string: String { String(decoding: rawBytes, as: UTF8.self) }

    /// How many children an ``Tag/array`` or ``Tag/object`` has.
    @inlinable
    public var count: Int { Int(slot.pointee.length) }

    /// The child at `index` of an array or object.
    @inlinable
    public subscript(index: Int) -> BatchValue {
        BatchValue(slot: sections.pointee.slots + Int(slot.pointee.payload) + index, sections: sections)
    }

    /// The key under which an object holds this value.
    public var key: String {
        let key = sections.pointee.keys[Int(keyIndex)]
        let bytes = UnsafeRawBufferPointer(start: sections.pointee.text + Int(key.offset), count: Int(key.length))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether an object holds this value under `name`, compared byte by byte.
    package func hasKey(_ name: String) -> Bool {
        let key = sections.pointee.keys[Int(keyIndex)]
        let bytes = UnsafeRawBufferPointer(start: sections.pointee.text + Int(key.offset), count: Int(key.length))
        return bytes.count == name.utf8.count && bytes.elementsEqual(name.utf8)
    }

    /// The member of an object with this name.
    ///
    /// Returns the last one for a duplicate key; nil for other values. Compares names: for options and pages, not for a
    /// hot path.
    public subscript(name: String) -> BatchValue? {
        guard tag == .object else { return nil }
        for index in (0..<count).reversed() where self[index].isNamed(name) { return self[index] }
        return nil
    }

    /// Whether an object holds this value under `name`, in any normal form of Unicode.
    ///
    /// Makes a text of the key only beyond ASCII, where other bytes may be the same text.
    private func isNamed(_ name: String) -> Bool {
        if hasKey(name) { return true }
        let key = sections.pointee.keys[Int(keyIndex)]
        let bytes = UnsafeRawBufferPointer(start: sections.pointee.text + Int(key.offset), count: Int(key.length))
        return bytes.contains { $0 >= 0x80 } && self.key == name
    }

    /// The text, or nil for other values.
    public var text: String? { tag == .text || tag == .decimal ? string : nil }

    /// The integer, or nil for other values.
    public var integer: Int64? { tag == .int64 ? int64 : nil }

    /// The bool, or nil for other values.
    public var boolean: Bool? { tag == .bool ? bool : nil }

    /// The children of an array; none for other values.
    public var elements: [BatchValue] { tag == .array ? (0..<count).map { self[$0] } : [] }

    /// The members of an object; none for other values.
    public var members: [(key: String, value: BatchValue)] {
        tag == .object ? (0..<count).map { (self[$0].key, self[$0]) } : []
    }
}
