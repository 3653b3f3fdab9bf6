public import CBridge

/// A validated flat batch of records, read in place.
///
/// The layout is that of `bmo_batch.h`, format 1. The initialiser checks every offset, length and tag, the depth, the
/// tree shape and the UTF-8 of all text once; after that, reading needs no further checks. Bytes from a plugin must
/// pass through here before any other code reads a record.
///
/// A ``BatchValue`` points into its batch and does not keep it alive: hold the batch while you use its values.
public final class RecordBatch: @unchecked Sendable {
    // Immutable after `init`, and `release` runs once in `deinit`: safe to share between threads.
    @usableFromInline let sections: UnsafeMutablePointer<BatchSections>
    private let bytes: UnsafeRawBufferPointer
    private let release: @Sendable () -> Void

    /// How many records the batch holds.
    public let count: Int
    /// How many distinct keys its objects use.
    public let keyCount: Int
    /// The size of the whole batch in bytes.
    public var byteCount: Int { bytes.count }

    /// Checks `bytes` and adopts them.
    ///
    /// - Parameters:
    ///   - bytes: A whole batch, 8-byte aligned, unchanged for the life of the batch.
    ///   - release: Called once, when the batch is deallocated or was refused.
    /// - Throws: ``RecordBatchError`` with the first rule that the bytes break.
    public convenience init(adopting bytes: UnsafeRawBufferPointer, release: @escaping @Sendable () -> Void)
        throws(RecordBatchError)
    {
        let checked: CheckedBytes
        do {
            checked = try CheckedBytes(bytes)
        } catch {
            release()
            throw error
        }
        self.init(adopting: checked, release: release)
    }

    /// Adopts bytes that have been checked.
    package init(adopting checked: CheckedBytes, release: @escaping @Sendable () -> Void) {
        bytes = checked.bytes
        self.release = release
        sections = .allocate(capacity: 1)
        sections.initialize(to: checked.sections)
        count = Int(checked.header.record_count)
        keyCount = Int(checked.header.key_count)
    }

    /// Copies `bytes` and checks the copy.
    public convenience init(copying bytes: UnsafeRawBufferPointer) throws(RecordBatchError) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        copy.copyMemory(from: bytes)
        let address = UInt(bitPattern: copy.baseAddress)
        try self.init(adopting: UnsafeRawBufferPointer(copy)) {
            UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
        }
    }

    deinit {
        sections.deallocate()
        release()
    }

    /// Returns the record at `index` as JSON text.
    public func json(_ index: Int) -> String {
        withExtendedLifetime(self) { self[index].json }
    }

    /// Returns the record at `index`, which must be below ``count``.
    ///
    /// The record does not keep the batch alive: `makeBatch()[0].json` reads freed memory.
    @inlinable
    public subscript(index: Int) -> BatchValue {
        BatchValue(slot: sections.pointee.records + index, sections: sections)
    }

    /// Returns the text of the key with this index.
    public func key(_ index: Int) -> String {
        String(decoding: keyBytes(index), as: UTF8.self)
    }

    /// Returns the UTF-8 of the key with this index.
    public func keyBytes(_ index: Int) -> UnsafeRawBufferPointer {
        let key = sections.pointee.keys[index]
        return UnsafeRawBufferPointer(start: sections.pointee.text + Int(key.offset), count: Int(key.length))
    }

    /// Calls `body` with the batch's bytes, for sending them on.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(bytes)
    }
}

/// The bytes of a whole batch that satisfy its rules and never change.
package struct CheckedBytes: @unchecked Sendable {
    // Pointers into memory that is never written.
    fileprivate let bytes: UnsafeRawBufferPointer
    fileprivate let sections: BatchSections
    fileprivate let header: bmo_batch_header

    /// Checks `bytes`.
    ///
    /// - Throws: ``RecordBatchError`` with the first rule that they break.
    package init(_ bytes: UnsafeRawBufferPointer) throws(RecordBatchError) {
        self.bytes = bytes
        (sections, header) = try BatchValidator.validate(bytes)
    }
}

/// Where the sections of a checked batch begin.
@usableFromInline
struct BatchSections {
    @usableFromInline let keys: UnsafePointer<bmo_batch_key>
    @usableFromInline let records: UnsafePointer<bmo_slot>
    @usableFromInline let slots: UnsafePointer<bmo_slot>
    @usableFromInline let text: UnsafeRawPointer
    @usableFromInline let bytes: UnsafeRawPointer
}

/// The rule of the batch format that the bytes break.
public struct RecordBatchError: Error, Equatable, CustomStringConvertible {
    /// The broken rule, with the numbers that prove it.
    public let description: String
    /// Whether a limit of the writer was exceeded.
    package let isLimit: Bool

    package init(_ description: String, isLimit: Bool = false) {
        self.description = description
        self.isLimit = isLimit
    }
}
