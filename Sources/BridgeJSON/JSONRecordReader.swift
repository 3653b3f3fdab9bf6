internal import BridgeKit
internal import JSONBatch
public import RecordBatch

/// Reads the records of JSON texts into batches, and values beside them.
///
/// Add the paths first; the first one selects the records. Then read one text after the other; the reader keeps its
/// memory:
///
///     let reader = try JSONRecordReader()
///     try reader.addPath(JSONPath(names: ["items"]))
///     let next = try reader.addPath(JSONPath(names: ["next"]))
///     guard reader.begin(body.bytes, count: body.count) else { throw problem(reader.failure) }
///     repeat { status = reader.next(into: writer, bytes: 1 << 20) } while status == .more
///     let cursor = reader.value(at: next)
///
/// Not thread-safe.
public final class JSONRecordReader {
    /// How a text is read.
    public enum Mode {
        /// The first path selects the records. Those that a wildcard finds in an object get its key as the member
        /// `@key`; a plain value becomes a record with the member `@value`.
        case records
        /// The text has no records: the first path is like any other.
        case values
        /// The text is a sequence of records (NDJSON); paths have no effect.
        case sequence

        fileprivate var code: Int32 {
            switch self {
            case .records: BMO_JSON_RECORDS
            case .values: BMO_JSON_VALUES
            case .sequence: BMO_JSON_SEQUENCE
            }
        }
    }

    /// How far a text was read.
    public enum Status {
        /// The text was read to its end and is well-formed.
        case done
        /// The batch has reached its size; continue.
        case more
        /// The reason is ``JSONRecordReader/failure``.
        case failed
    }

    /// Why a text was refused.
    public struct Failure {
        /// The kind of fault.
        public enum Fault {
            /// The text is empty or white space.
            case empty
            /// Something follows the value.
            case trailing
            /// A limit is exceeded: on nesting, on size, or of the memory that the system gives.
            case tooDeep, tooLarge, memory
            /// The path of the records selects nothing, or a value that is neither an object nor an array.
            case noRecords, notRecords
            /// An object stands where the path of the records has an index or a filter.
            case notList
            /// The text is not JSON, for the reason in ``message``.
            case other
        }

        /// The kind of fault.
        public let fault: Fault
        /// The place in the text, from 0.
        public let offset: Int
        /// Empty if the text was well-formed.
        public let message: String
    }

    /// A record that cannot be stored in a batch; the others are not affected.
    public struct Rejected {
        /// The record's number in the text, from 0.
        public let index: Int
        /// The place of its JSON in the text.
        public let range: Range<Int>
        /// Why it cannot be stored.
        public let reason: String
    }

    /// The value at one place of a text.
    public struct Value {
        /// The kind of value.
        public enum Kind {
            /// Nothing is at the place.
            case missing
            /// A value of this kind.
            case null, `false`, `true`, number, text, object, array
        }

        /// The kind of value.
        public let kind: Kind
        /// A number in its original notation, a text, or the first character of an array's first element.
        public let text: String
    }

    /// The number of zeros that must follow a text.
    public static let padding = Int(BMO_JSON_PADDING)

    private let reader: OpaquePointer
    /// The text and its padding, which the C reader points into.
    private var text: [UInt8] = []
    private var count = 0

    /// Creates a reader without paths.
    ///
    /// - Throws: `BridgeError` if memory runs out.
    public init() throws {
        guard let reader = bmo_json_reader_new() else { throw BridgeError(.internal, "no memory for a JSON reader") }
        self.reader = reader
    }

    deinit { bmo_json_reader_free(reader) }

    /// Sets the limit on structure for texts of up to this many bytes.
    public func limit(bytes: Int) { bmo_json_limit(reader, bytes) }

    /// Makes arrays and plain values count as records; the caller turns them into objects.
    public func acceptAnyValue() { bmo_json_take_any(reader) }

    /// The most paths of a reader, that of the records included.
    public static let maxPaths = Int(BMO_JSON_MAX_PATHS)

    /// Adds a path, and returns its number for ``value(at:)``.
    ///
    /// - Throws: `BridgeError` if there are ``maxPaths`` already. The others stay as they are.
    @discardableResult
    public func addPath(_ path: JSONPath) throws -> UInt32 {
        let number = bmo_json_add_path(reader)
        guard number != BMO_JSON_NO_PATH else {
            throw BridgeError(
                .internal, "a reader of JSON takes at most \(Self.maxPaths) paths, so it cannot look at \(path)")
        }
        for segment in path.segments {
            switch segment {
            case .wildcard: bmo_json_add_wildcard(reader)
            case .index(let index): bmo_json_add_index(reader, index)
            case .name(let name): Self.withChars(name) { bmo_json_add_name(reader, $0.baseAddress, $0.count) }
            case .filter(let name, let value):
                Self.withChars(name, value) {
                    bmo_json_add_filter(reader, $0.baseAddress, $0.count, $1.baseAddress, $1.count)
                }
            }
        }
        return number
    }

    /// Sets the members to add in front of each record's own, from the next record on.
    public func setFields(_ fields: [(name: String, value: String)]) {
        bmo_json_clear_fields(reader)
        for (name, value) in fields {
            Self.withChars(name, value) {
                bmo_json_set_field(reader, $0.baseAddress, $0.count, $1.baseAddress, $1.count)
            }
        }
    }

    /// Begins a text.
    ///
    /// The reader keeps the array alive until the next text begins, or until ``end()``. It copies the text only if zeros
    /// are missing after it.
    ///
    /// - Parameters:
    ///   - bytes: The text, and after it ``padding`` zeros.
    ///   - count: The length of the text without the zeros.
    ///   - mode: How to read it.
    /// - Returns: False if the text is refused at once; ``failure`` has the reason.
    public func begin(_ bytes: [UInt8], count: Int, as mode: Mode = .records) -> Bool {
        self.count = count
        text = bytes
        if bytes.count < count + Self.padding {
            text.reserveCapacity(count + Self.padding)
            text.append(contentsOf: repeatElement(0, count: count + Self.padding - bytes.count))
        }
        return text.withUnsafeBufferPointer { bmo_json_begin(reader, $0.baseAddress, count, mode.code) != 0 }
    }

    /// Writes records until the batch has about `bytes` bytes, or 500 records have been rejected.
    ///
    /// - Parameters:
    ///   - writer: Takes the records; nil for a text without records.
    ///   - bytes: About how large a batch may become.
    public func next(into writer: RecordBatchWriter?, bytes: Int = .max) -> Status {
        guard isHeld else { return .failed }
        let status = text.withUnsafeBufferPointer { _ in bmo_json_next(reader, writer?.raw, bytes) }
        return status == BMO_JSON_DONE ? .done : status == BMO_JSON_MORE ? .more : .failed
    }

    /// Releases the text; its values are then missing.
    public func end() {
        text = []
        count = 0
    }

    private var isHeld: Bool { !text.isEmpty }

    /// The number of records seen so far in the text, including rejected ones.
    public var recordCount: Int { Int(bmo_json_records(reader)) }

    /// Whether the path of the records leads into a list or an object with elements, and none of these has what follows.
    ///
    /// With `$.groups[*].members`, for example, no group has that member. Known once the text is ``Status/done``.
    public var lacksRecords: Bool { bmo_json_lacks_records(reader) != 0 }

    /// The place of the last record's JSON, including white space after it; nil without a record.
    public var lastRecord: Range<Int>? {
        var offset = 0
        var length = 0
        if isHeld { bmo_json_last_record(reader, &offset, &length) }
        return length > 0 ? offset..<min(offset + length, count) : nil
    }

    /// The records that the last call of ``next(into:bytes:)`` rejected.
    public var rejected: [Rejected] {
        guard isHeld else { return [] }
        return (0..<bmo_json_rejected_count(reader)).map { number in
            var record = bmo_json_rejected()
            bmo_json_rejected_at(reader, number, &record)
            return Rejected(
                index: Int(record.index), range: record.offset..<min(record.offset + record.length, count),
                reason: String(cString: record.reason))
        }
    }

    /// Returns the beginning of a rejected record's JSON.
    public func excerpt(of record: Rejected, bytes: Int) -> String {
        String(decoding: text[record.range].prefix(bytes), as: UTF8.self)
    }

    /// The reason why the text was refused, or why reading it failed.
    public var failure: Failure {
        var error = bmo_json_error()
        bmo_json_failure(reader, &error)
        let fault: Failure.Fault =
            switch error.fault {
            case BMO_JSON_EMPTY: .empty
            case BMO_JSON_TRAILING: .trailing
            case BMO_JSON_TOO_DEEP: .tooDeep
            case BMO_JSON_TOO_LARGE: .tooLarge
            case BMO_JSON_MEMORY: .memory
            case BMO_JSON_NO_RECORDS: .noRecords
            case BMO_JSON_NOT_RECORDS: .notRecords
            case BMO_JSON_NOT_A_LIST: .notList
            default: .other
            }
        return Failure(fault: fault, offset: error.offset, message: error.message.map { String(cString: $0) } ?? "")
    }

    /// The paths of the text's arrays, separated by commas, for a remedy after a ``failure``.
    public var arrayPaths: String { isHeld ? String(cString: bmo_json_arrays(reader)) : "" }

    /// Returns the value that a path other than the records' selected; with duplicate members, the last.
    ///
    /// Valid once the text is ``Status/done``.
    public func value(at path: UInt32) -> Value {
        var value = bmo_json_value()
        if isHeld { bmo_json_value_at(reader, path, &value) }
        return Value(value)
    }

    /// Returns the members of the text's objects, four levels deep, with their paths (RFC 9535), right after
    /// ``begin(_:count:as:)``.
    ///
    /// Arrays are skipped except lists of links. There are at most about 600 members; a fault ends the survey early.
    public func survey() -> [(path: String, value: Value)] {
        guard isHeld else { return [] }
        return (0..<bmo_json_survey(reader)).map { number in
            var finding = bmo_json_finding()
            bmo_json_finding_at(reader, number, &finding)
            let path = UnsafeRawBufferPointer(start: finding.path, count: finding.path_length)
            return (String(decoding: path, as: UTF8.self), Value(finding.value))
        }
    }

    private typealias Chars = UnsafeBufferPointer<CChar>

    private static func withChars<Result>(_ text: String, _ body: (Chars) -> Result) -> Result {
        var text = text
        return text.withUTF8 { $0.withMemoryRebound(to: CChar.self, body) }
    }

    private static func withChars(_ first: String, _ second: String, _ body: (Chars, Chars) -> Void) {
        withChars(first) { first in withChars(second) { body(first, $0) } }
    }
}

extension JSONRecordReader.Value {
    fileprivate init(_ value: bmo_json_value) {
        kind =
            switch value.kind {
            case BMO_JSON_NULL: .null
            case BMO_JSON_FALSE: .false
            case BMO_JSON_TRUE: .true
            case BMO_JSON_NUMBER: .number
            case BMO_JSON_TEXT: .text
            case BMO_JSON_OBJECT: .object
            case BMO_JSON_ARRAY: .array
            default: .missing
            }
        text = String(decoding: UnsafeRawBufferPointer(start: value.text, count: value.length), as: UTF8.self)
    }
}
