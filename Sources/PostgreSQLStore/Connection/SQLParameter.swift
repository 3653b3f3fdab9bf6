/// A parameter of a prepared statement, in PostgreSQL's binary format; nil bytes are NULL.
///
/// The statements cast each parameter, as in `$1::bigint[]`, so that the server knows its type.
struct SQLParameter {
    let bytes: [UInt8]?
    /// The array that has the bytes instead.
    private(set) var array: ArrayBuilder?

    static var null: SQLParameter { SQLParameter(bytes: nil) }

    static func array(_ array: ArrayBuilder) -> SQLParameter { SQLParameter(bytes: nil, array: array) }

    static func text(_ text: String) -> SQLParameter { SQLParameter(bytes: Array(text.utf8)) }

    static func text(_ text: String?) -> SQLParameter { text.map { .text($0) } ?? .null }

    static func bigint(_ value: Int64) -> SQLParameter { SQLParameter(bytes: value.bigEndianBytes) }

    static func bigint(_ value: Int64?) -> SQLParameter { value.map { .bigint($0) } ?? .null }

    static func bytes(_ bytes: [UInt8]) -> SQLParameter { SQLParameter(bytes: bytes) }

    static func boolean(_ value: Bool) -> SQLParameter { SQLParameter(bytes: [value ? 1 : 0]) }

    static func texts(_ texts: some Collection<String>) -> SQLParameter {
        array(of: .text, texts.map { Array($0.utf8) })
    }

    static func optionalTexts(_ texts: some Collection<String?>) -> SQLParameter {
        array(of: .text, texts.map { $0.map { Array($0.utf8) } })
    }

    static func bigints(_ values: some Collection<Int64>) -> SQLParameter {
        array(of: .bigint, values.map(\.bigEndianBytes))
    }

    /// An array of one dimension: the format of `array_recv` in src/backend/utils/adt/arrayfuncs.c.
    static func array(of type: SQLType, _ elements: some Collection<[UInt8]?>) -> SQLParameter {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        bytes.append(bigEndian: elements.isEmpty ? 0 : 1 as Int32)
        bytes.append(bigEndian: elements.contains { $0 == nil } ? 1 : 0 as Int32)
        bytes.append(bigEndian: type.oid)
        if !elements.isEmpty {
            bytes.append(bigEndian: Int32(elements.count))
            bytes.append(bigEndian: 1 as Int32)
        }
        for element in elements {
            guard let element else {
                bytes.append(bigEndian: -1 as Int32)
                continue
            }
            bytes.append(bigEndian: Int32(element.count))
            bytes += element
        }
        return SQLParameter(bytes: bytes)
    }
}

extension [SQLParameter] {
    /// Calls `body` with the values, their lengths and formats, each list ended by an element more.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<Int32>, UnsafePointer<Int32>) -> Result
    ) -> Result {
        // One buffer for all values but arrays, so that a single pointer need stay valid; an empty value still needs an
        // address.
        var all: [UInt8] = []
        all.reserveCapacity(reduce(1) { $0 + ($1.bytes?.count ?? 0) })
        for parameter in self { if let bytes = parameter.bytes { all += bytes } }
        all.append(0)
        let formats = [Int32](repeating: 1, count: count + 1)
        return all.withUnsafeBytes { buffer in
            var offset = 0
            var pointers: [UnsafePointer<CChar>?] = []
            var lengths: [Int32] = []
            for parameter in self {
                let start: UnsafeRawPointer?
                if let array = parameter.array?.bytes {
                    start = array.baseAddress
                    lengths.append(Int32(array.count))
                } else if let bytes = parameter.bytes {
                    start = buffer.baseAddress?.advanced(by: offset)
                    lengths.append(Int32(bytes.count))
                    offset += bytes.count
                } else {
                    start = nil
                    lengths.append(0)
                }
                pointers.append(start?.assumingMemoryBound(to: CChar.self))
            }
            pointers.append(nil)
            lengths.append(0)
            return withExtendedLifetime(self) { body(pointers, lengths, formats) }
        }
    }
}

extension [UInt8] {
    /// Appends the bytes of a number.
    mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    /// Reads the value from exactly as many bytes.
    init?(bigEndian bytes: UnsafeRawBufferPointer) {
        guard bytes.count == MemoryLayout<Self>.size else { return nil }
        self.init(bigEndian: bytes.loadUnaligned(as: Self.self))
    }
}
