public import BridgeKit
public import RecordBatch
internal import TextFormats

/// A JSON value as a tree, for request bodies and documents but not for listings.
public indirect enum JSONTree: Sendable, Equatable {
    /// Null.
    case null
    /// True or false.
    case bool(Bool)
    /// A number in its original notation.
    case number(String)
    /// A string.
    case text(String)
    /// An array.
    case array([JSONTree])
    /// An object.
    case object(Members)

    /// The members of an object in order; the last member of a name wins.
    public struct Members: Sendable, Equatable {
        /// The names, in order.
        public private(set) var names: [String] = []
        private var values: [String: JSONTree] = [:]

        /// Creates an object without members.
        public init() {}

        /// The value of a member; nil if there is none.
        public subscript(name: String) -> JSONTree? {
            get { values[name] }
            set {
                if let newValue {
                    if values.updateValue(newValue, forKey: name) == nil { names.append(name) }
                } else if values.removeValue(forKey: name) != nil {
                    names.removeAll { $0 == name }
                }
            }
        }

        /// Whether there is no member.
        public var isEmpty: Bool { names.isEmpty }
        /// The members, in order.
        public var all: [(name: String, value: JSONTree)] { names.map { ($0, values[$0] ?? .null) } }
    }

    /// Returns an object with members; the last member of a name wins.
    public static func object(_ members: [(String, JSONTree)]) -> JSONTree {
        var object = Members()
        for (name, value) in members { object[name] = value }
        return .object(object)
    }

    /// Converts a value of a batch.
    ///
    /// Bytes become base64, a timestamp becomes ISO 8601, and a double without a JSON number becomes `INF`, `-INF` or
    /// `NaN`, as in all JSON of this program.
    public init(_ value: BatchValue) {
        switch value.tag {
        case .null: self = .null
        case .bool: self = .bool(value.bool)
        case .int64: self = .number(String(value.int64))
        case .double: self = value.double.isFinite ? .number("\(value.double)") : .text(value.double.lexicalText)
        case .decimal: self = .number(value.string)
        case .text: self = .text(value.string)
        case .bytes: self = .text(Base64.encode(value.rawBytes))
        case .timestamp: self = .text(Timestamp.text(microseconds: value.int64))
        case .array: self = .array(value.elements.map(JSONTree.init))
        case .object:
            var members = Members()
            for index in 0..<value.count { members[value[index].key] = JSONTree(value[index]) }
            self = .object(members)
        }
    }

    /// Converts all members of a part of the config or of a request.
    public init(_ options: BridgeOptions) {
        var members = Members()
        for name in options.names { members[name] = options.withValue(name) { $0.map(JSONTree.init) } ?? .null }
        self = .object(members)
    }

    /// The value of an object's member; nil if there is none, or the value is not an object.
    public subscript(name: String) -> JSONTree? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The value at a path of member names; nil if there is none.
    public subscript(path: [String]) -> JSONTree? {
        var value = self
        for name in path {
            guard let next = value[name] else { return nil }
            value = next
        }
        return value
    }

    /// The string; nil for any other value.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// True or false; nil for any other value.
    public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
    /// The number, if it is an integer; nil for any other value.
    public var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
    /// The elements of an array; nil for any other value.
    public var elements: [JSONTree]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object; none for any other value.
    public var members: [(name: String, value: JSONTree)] {
        if case .object(let members) = self { members.all } else { [] }
    }
    /// Whether the value is an object.
    public var isObject: Bool { if case .object = self { true } else { false } }

    /// Sets a value at a path.
    ///
    /// Creates missing objects along the path, and replaces values that are not objects.
    public mutating func set(_ value: JSONTree, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self = value
            return
        }
        var members = Members()
        if case .object(let own) = self { members = own }
        var member = members[name] ?? .null
        member.set(value, at: path.dropFirst())
        members[name] = member
        self = .object(members)
    }

    /// Returns the value with each text transformed.
    ///
    /// Leaves out a member or element whose result is nil.
    public func mapTexts(_ change: (String) -> JSONTree?) -> JSONTree? {
        switch self {
        case .text(let text): return change(text)
        case .array(let elements): return .array(elements.compactMap { $0.mapTexts(change) })
        case .object(let own):
            var members = Members()
            for (name, value) in own.all { members[name] = value.mapTexts(change) }
            return .object(members)
        case .null, .bool, .number: return self
        }
    }

    /// All texts in the value.
    public var texts: [String] {
        switch self {
        case .text(let text): [text]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let own): own.all.flatMap(\.value.texts)
        case .null, .bool, .number: []
        }
    }

    /// The text for a form field or a query parameter, or nil for null, objects and arrays.
    public var plainText: String? {
        switch self {
        case .bool, .number: json
        case .text(let text): text
        case .null, .array, .object: nil
        }
    }

    /// Applies a merge patch (RFC 7386, section 2), but keeps nulls: a cleared value must be sent as null.
    public func merging(_ patch: JSONTree) -> JSONTree {
        guard case .object(let changes) = patch else { return patch }
        var members = Members()
        if case .object(let own) = self { members = own }
        for (name, value) in changes.all { members[name] = (members[name] ?? .null).merging(value) }
        return .object(members)
    }

    /// The value as JSON text (RFC 8259).
    public var json: String {
        var out = ""
        write(to: &out)
        return out
    }

    private func write(to out: inout String) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .number(let text): out += text
        case .text(let text): out.appendJSONString(text)
        case .array(let elements):
            out += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { out += "," }
                element.write(to: &out)
            }
            out += "]"
        case .object(let members):
            out += "{"
            for (index, member) in members.all.enumerated() {
                if index > 0 { out += "," }
                out.appendJSONString(member.name)
                out += ":"
                member.value.write(to: &out)
            }
            out += "}"
        }
    }

    /// Writes the value into a batch.
    public func write(to writer: RecordBatchWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let value): writer.bool(value)
        case .number(let text):
            if let integer = Int64(text) { writer.int64(integer) } else { writer.decimal(text) }
        case .text(let text): writer.text(text)
        case .array(let elements): writer.array { for element in elements { element.write(to: writer) } }
        case .object: writer.object { writeMembers(to: writer) }
        }
    }

    /// Writes the members of an object into one that is open; nothing for any other value.
    public func writeMembers(to writer: RecordBatchWriter) {
        for (name, value) in members {
            writer.key(name)
            value.write(to: writer)
        }
    }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .number(String(value)) }
    /// Creates true or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
    /// Creates an object.
    public init(dictionaryLiteral elements: (String, JSONTree)...) { self = .object(elements) }
}

extension JSONTree {
    /// Parses a JSON text.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - what: A description of the text, for messages.
    ///   - limit: The maximum size in bytes of the batch it makes. The tree takes up to ten times that.
    /// - Throws: `BridgeError` with the fault and its byte offset.
    public init(parsing text: [UInt8], what: String, limit: Int = 16 << 20) throws {
        let reader = try JSONRecordReader()
        try reader.addPath(.root)
        let first = text.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
        let writer = RecordBatchWriter()
        writer.limit(bytes: limit)
        let isRead = reader.begin(text, count: text.count) && reader.next(into: writer) == .done
        let rejected = reader.rejected.first
        if isRead, let reason = rejected?.reason, reason.contains(" more than ") {
            throw BridgeError(.limit, "\(what) is too large to be searched: \(reason)")
        }
        guard isRead, rejected == nil else {
            let error = reader.failure
            guard !error.message.isEmpty else {
                // The text is valid JSON, but not an object.
                throw BridgeError(
                    .malformed,
                    "\(what) holds \(first == UInt8(ascii: "[") ? "an array whose elements are not objects" : "no object")",
                    remedy: "give one that is a list of objects, or an object")
            }
            throw BridgeError(.malformed, "\(what) is not JSON: \(error.message), at byte \(error.offset)")
        }
        let batch = try writer.finish()
        let values = (0..<batch.count).map { JSONTree(batch[$0]) }
        self = first == UInt8(ascii: "[") ? .array(values) : values.first ?? .null
    }
}
