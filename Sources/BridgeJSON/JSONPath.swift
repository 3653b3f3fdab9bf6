internal import BridgeKit

/// A path into a JSON text: the subset of RFC 9535 that a single forward pass can evaluate.
///
/// `$` is the root. `.name` and `['name']` select a member, `[*]` and `.*` all elements or members, `[0]` an element by
/// its index from the front, and `[?@.name=='value']` the elements whose member equals that text.
public struct JSONPath: Hashable, Sendable, CustomStringConvertible {
    /// A step from a value to values in it.
    public enum Segment: Hashable, Sendable {
        /// The member of this name.
        case name(String)
        /// All members or elements.
        case wildcard
        /// The element at this index, from 0.
        case index(UInt64)
        /// The elements with a member of this name whose value is this text.
        case filter(name: String, value: String)

        fileprivate var isFilter: Bool { if case .filter = self { true } else { false } }
    }

    /// The steps from the root.
    public let segments: [Segment]
    /// The path as written in the configuration.
    public let description: String

    /// The path of the whole text, `$`.
    public static let root = JSONPath(segments: [], description: "$")

    private init(segments: [Segment], description: String) {
        self.segments = segments
        self.description = description
    }

    /// Creates a path of nested member names.
    public init(names: [String]) {
        self.init(
            segments: names.map(Segment.name),
            description: "$" + names.map { "['" + $0.replacing("'", with: "\\'") + "']" }.joined())
    }

    /// Returns the path made of the first `count` segments.
    public func prefix(_ count: Int) -> JSONPath {
        JSONPath(segments: Array(segments.prefix(count)), description: description)
    }

    /// Returns the path with the filters' values replaced.
    public func replacingFilterValues<Failure>(
        _ replace: (String) throws(Failure) -> String
    ) throws(Failure) -> JSONPath {
        var changed: [Segment] = []
        for segment in segments {
            if case .filter(let name, let value) = segment {
                changed.append(.filter(name: name, value: try replace(value)))
            } else {
                changed.append(segment)
            }
        }
        return JSONPath(segments: changed, description: description)
    }

    /// The path with a wildcard in place of each filter, or nil if it has no filter.
    public var withoutFilters: JSONPath? {
        let all = segments.map { segment in
            if case .filter = segment { Segment.wildcard } else { segment }
        }
        return all == segments ? nil : JSONPath(segments: all, description: description)
    }

    /// The path of the elements of the outermost list, such as `$.orders[*]` of `$.orders[*].lines[*]`, or nil if this path
    /// selects just those.
    public var outermostElements: JSONPath? {
        guard let first = segments.firstIndex(where: { $0.isFilter || $0 == .wildcard }) else { return nil }
        guard first + 1 < segments.count || segments[first].isFilter else { return nil }
        return JSONPath(segments: segments.prefix(first) + [.wildcard], description: description)
    }

    /// Parses a path.
    ///
    /// - Parameters:
    ///   - text: The path.
    ///   - option: The option that holds the path, for the error message.
    /// - Throws: `BridgeError` that names the character where the supported subset ends.
    public init(_ text: String, option: String) throws {
        var parser = Parser(text: text, option: option)
        segments = try parser.parse()
        description = text
    }

    /// Whether everything that `other` selects is at or below what this path selects.
    public func isPrefix(of other: JSONPath) -> Bool { other.segments.starts(with: segments) }

    private struct Parser {
        let text: String
        let option: String
        var rest: Substring

        init(text: String, option: String) {
            self.text = text
            self.option = option
            rest = text[...]
        }

        func failure(_ what: String) -> BridgeError {
            let position = text.distance(from: text.startIndex, to: rest.startIndex) + 1
            return BridgeError(
                .configuration, "\(option): \"\(text)\" is not a path: \(what) at character \(position)",
                remedy: "use $, .name, ['name'], [*], [0] and [?@.name=='text'], as in $.data.items")
        }

        mutating func parse() throws -> [Segment] {
            var segments: [Segment] = []
            guard rest.popFirst() == "$" else {
                rest = text[...]
                throw failure("$ must come first")
            }
            while let character = rest.first {
                if rest.hasPrefix("..") { throw failure("the descendant segment .. is not supported") }
                guard character == "." || character == "[" else { throw failure("unexpected \"\(character)\"") }
                rest.removeFirst()
                switch character {
                case "." where rest.first == "*":
                    rest.removeFirst()
                    segments.append(.wildcard)
                case ".":
                    let name = rest.prefix { $0.isNamePart || $0 == "@" }
                    guard !name.isEmpty else { throw failure("a name must follow the dot") }
                    rest = rest[name.endIndex...]
                    segments.append(.name(String(name)))
                default: segments.append(try bracket())
                }
            }
            return segments
        }

        mutating func bracket() throws -> Segment {
            guard let first = rest.popFirst() else { throw failure("the bracket is not closed") }
            let segment: Segment
            switch first {
            case "*": segment = .wildcard
            case "'", "\"": segment = .name(try quoted(first))
            case "0"..."9":
                var digits = String(first)
                while let digit = rest.first, ("0"..."9").contains(digit) {
                    digits.append(digit)
                    rest.removeFirst()
                }
                guard let index = UInt64(digits) else { throw failure("the index is too large") }
                segment = .index(index)
            case "?": segment = try filter()
            default: throw failure("only ['name'], [*], [0] and [?@.name=='text'] are supported in brackets")
            }
            guard rest.popFirst() == "]" else { throw failure("the bracket is not closed") }
            return segment
        }

        private mutating func quoted(_ quote: Character) throws -> String {
            var name = ""
            while let character = rest.popFirst(), character != quote {
                guard character == "\\" else {
                    name.append(character)
                    continue
                }
                guard let escaped = rest.popFirst(), "'\"\\/".contains(escaped) else { throw failure("unknown escape") }
                name.append(escaped)
            }
            return name
        }

        /// `?@.name=='text'` or `?(@.name=='text')`.
        private mutating func filter() throws -> Segment {
            func space() { rest = rest.drop { $0 == " " } }
            space()
            let isWrapped = rest.first == "("
            if isWrapped { rest.removeFirst() }
            space()
            guard rest.hasPrefix("@.") else { throw failure("a filter must begin with @.name") }
            rest = rest.dropFirst(2)
            let name = rest.prefix(while: \.isNamePart)
            guard !name.isEmpty else { throw failure("a filter needs a member's name") }
            rest = rest[name.endIndex...]
            space()
            guard rest.hasPrefix("==") else { throw failure("a filter can only compare with ==") }
            rest = rest.dropFirst(2)
            space()
            guard let quote = rest.popFirst(), quote == "'" || quote == "\"" else {
                throw failure("a filter compares with a text in quotes")
            }
            let value = try quoted(quote)
            space()
            if isWrapped { guard rest.popFirst() == ")" else { throw failure("the ( of the filter is not closed") } }
            return .filter(name: String(name), value: value)
        }
    }
}

extension Character {
    /// Whether a name without quotes may have the character.
    ///
    /// Asks Unicode's properties only beyond ASCII: they took half of the time of a path.
    fileprivate var isNamePart: Bool {
        guard let byte = asciiValue else { return isLetter || isNumber }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }
}
