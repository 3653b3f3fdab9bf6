internal import BridgeKit
internal import CSimdJSON

/// A path into a JSON text: the part of RFC 9535 that a single forward pass can follow.
///
/// `$` is the root, `.name` and `['name']` select a member, `[*]` and `.*` all elements or members.
struct JSONPath: Equatable, Sendable, CustomStringConvertible {
    enum Segment: Equatable, Sendable {
        case name(String)
        case wildcard
    }

    let segments: [Segment]
    /// As the config has it.
    let description: String

    static let root = JSONPath(segments: [], description: "$")

    private init(segments: [Segment], description: String) {
        self.segments = segments
        self.description = description
    }

    /// The path of members, one in the other.
    init(names: [String]) {
        self.init(
            segments: names.map(Segment.name),
            description: "$" + names.map { "['" + $0.replacing("'", with: "\\'") + "']" }.joined())
    }

    /// Parses a path.
    ///
    /// - Parameter option: The option that holds it, for the message.
    /// - Throws: ``BridgeError`` that names the character where the subset ends.
    init(_ text: String, option: String) throws {
        var parser = Parser(text: text, option: option)
        segments = try parser.parse()
        description = text
    }

    /// Whether everything that `other` leads to lies at or below what this path leads to.
    func isPrefix(of other: JSONPath) -> Bool { other.segments.starts(with: segments) }

    /// Adds this path to a reader and returns its number there.
    func add(to reader: OpaquePointer) -> UInt32 {
        let number = bmo_json_add_path(reader)
        for segment in segments {
            switch segment {
            case .wildcard: bmo_json_add_wildcard(reader)
            case .name(var name):
                name.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) { bmo_json_add_name(reader, $0.baseAddress, $0.count) }
                }
            }
        }
        return number
    }

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
                .configuration, "\(option): \"\(text)\" is no path: \(what) at character \(position)",
                remedy: "use $, .name, ['name'] and [*], as in $.data.items")
        }

        mutating func parse() throws -> [Segment] {
            var segments: [Segment] = []
            guard rest.popFirst() == "$" else {
                rest = text[...]
                throw failure("$ must stand first")
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
                    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == "@" }
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
            case "'", "\"":
                var name = ""
                while let character = rest.popFirst(), character != first {
                    if character == "\\" {
                        guard let escaped = rest.popFirst(), "'\"\\/".contains(escaped) else {
                            throw failure("unknown escape")
                        }
                        name.append(escaped)
                    } else {
                        name.append(character)
                    }
                }
                segment = .name(name)
            default: throw failure("only ['name'] and [*] are supported in brackets")
            }
            guard rest.popFirst() == "]" else { throw failure("the bracket is not closed") }
            return segment
        }
    }
}
