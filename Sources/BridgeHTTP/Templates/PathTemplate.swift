internal import BridgeKit

/// A path with variables, optionally with a query.
///
/// `|key.path|` and `{key.path}` are variables, whose values are percent-encoded. `{+name}`, `{#name}`, `{.name}`,
/// `{/name}`, `{;name}`, `{?name}` and `{&name}`, with one name or several, are those of RFC 6570, levels 2 and 3.
/// `( )` around a variable is an optional group; groups nest. `\` escapes the following character.
///
/// A variable without a value drops its nearest group, or the whole path outside of groups. With an operator of RFC
/// 6570 other than `+` it drops only itself.
///
/// ```swift
/// let template = try PathTemplate("/users(/|key.id|)", option: "path")
/// try template.expand { ["key.id": "42"][$0] }    // /users/42; without a value, /users
/// ```
public struct PathTemplate: Sendable, CustomStringConvertible {
    /// A part of a template.
    package indirect enum Part: Equatable, Sendable {
        case literal(String)
        /// An expression with its operator, or a space for none.
        case expression(Character, [String])
        case group([Part])
    }

    package let parts: [Part]
    /// The template as written in the config.
    public let description: String
    /// All variables, in order.
    public var names: [String] { Self.names(of: parts) }

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - text: The template.
    ///   - option: The option that contains the template, for messages.
    /// - Throws: `BridgeError` with the fault and its character position.
    public init(_ text: String, option: String) throws {
        var parser = Parser(text: text, option: option, rest: text[...])
        parts = try parser.parts(isGroup: false)
        description = text
    }

    /// Returns the path with variables replaced.
    ///
    /// - Parameter value: Returns the value of a variable, not encoded; nil if there is none.
    /// - Returns: nil if a variable outside of groups has no value.
    /// - Throws: `BridgeError` if a value would leave its place in the path, as `..` does.
    public func expand(_ value: (String) -> String?) throws -> String? {
        try expand(placed: { name, _ in value(name) })
    }

    /// Returns the path with values from a closure, whose second argument tells whether the variable is in a query.
    package func expand(placed value: (String, Bool) -> String?) throws -> String? {
        var place = ExpressionContext(description)
        guard let pieces = Self.expand(parts, value, &place) else { return nil }
        try checkSegments(of: pieces)
        return pieces.map(\.text).joined()
    }

    private static func names(of parts: [Part]) -> [String] {
        parts.flatMap { part in
            switch part {
            case .literal: [String]()
            case .expression(_, let names): names
            case .group(let parts): Self.names(of: parts)
            }
        }
    }

    /// A piece of an expanded path with its variables, which are empty for literal text.
    private typealias Piece = (text: String, names: [String])

    /// Returns the value of a variable; the second argument tells whether it is in a query.
    private typealias Values = (String, Bool) -> String?

    /// The place of an expression in the template.
    private struct ExpressionContext {
        var isInQuery = false
        var quotes: QuoteState
        let template: String

        init(_ template: String) {
            self.template = template
            quotes = QuoteState(template)
        }

        mutating func pass(_ literal: String) {
            isInQuery = isInQuery || literal.contains("?")
            quotes.pass(literal)
        }
    }

    private static func expand(_ parts: [Part], _ value: Values, _ place: inout ExpressionContext) -> [Piece]? {
        var pieces: [Piece] = []
        for part in parts {
            switch part {
            case .literal(let literal):
                place.pass(literal)
                pieces.append((literal, []))
            case .group(let group):
                var inside = place
                let inner = expand(group, value, &inside)
                if inner != nil { place = inside }
                // Parentheses around plain text are literal.
                pieces += names(of: group).isEmpty ? [("(", [])] + (inner ?? []) + [(")", [])] : inner ?? []
            case .expression(let sign, let names):
                place.isInQuery = place.isInQuery || sign == "?" || sign == "&"
                let (isInQuery, quotes, template) = (place.isInQuery, place.quotes, place.template)
                let expanded = expand(sign, names, isInQuery: isInQuery) { name in
                    value(name, isInQuery).map { quotes.escaped($0, before: template) }
                }
                guard let expanded else { return nil }
                pieces.append((expanded, names))
            }
        }
        return pieces
    }

    /// Refuses a value that makes a whole segment equal to `.` or `..`.
    private func checkSegments(of pieces: [Piece]) throws {
        var segment = ""
        var names: [String] = []
        func check() throws {
            guard !names.isEmpty else { return }
            try Self.check(segment: segment, of: "{\(names.joined(separator: ","))} in the path \(description)")
        }
        for piece in pieces {
            for character in piece.text {
                if character == "?" || character == "#" { return try check() }
                if character == "/" {
                    try check()
                    (segment, names) = ("", [])
                } else {
                    segment.append(character)
                    if !piece.names.isEmpty { names = piece.names }
                }
            }
        }
        try check()
    }

    /// Refuses a dot segment, which URL parsers remove together with the preceding segment (RFC 3986, section 5.2.4).
    ///
    /// Percent-encoding does not help (section 6.2.2.3), so a URL cannot contain such a value. Some servers, such as
    /// Tomcat, drop the text after a `;` first.
    package static func check(segment: String, of place: @autoclosure () -> String) throws {
        // Nearly all segments begin with neither a dot nor an encoded one.
        guard let first = segment.utf8.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "%") else { return }
        var plain = segment
        for (code, character) in [("%2e", "."), ("%3b", ";")] {
            plain = plain.replacing(code, with: character).replacing(code.uppercased(), with: character)
        }
        let name = plain.prefix { $0 != ";" }
        guard name == "." || name == ".." else { return }
        throw BridgeError(
            .configuration, "\(place()) is \"\(plain)\", which in a URL leads to another path: nothing was sent",
            remedy: "no path can contain this value: send it in the query, or leave the object out")
    }

    /// Expands an expression (RFC 6570, section 3.2).
    ///
    /// A value in a path stays in it: a `?` or `#` would begin another part of the URL.
    private static func expand(
        _ sign: Character, _ names: [String], isInQuery: Bool, _ value: (String) -> String?
    ) -> String? {
        let values = names.map { (name: $0, value: value($0)) }
        func joined(_ first: String, _ separator: String, _ form: (String, String) -> String) -> String {
            let found = values.compactMap { pair in pair.value.map { form(pair.name, $0) } }
            return found.isEmpty ? "" : first + found.joined(separator: separator)
        }
        func named(_ name: String, _ value: String) -> String {
            HTTPURL.encode(String(name.split(separator: ".").last ?? "")) + "=" + HTTPURL.encode(value)
        }
        switch sign {
        case "?": return joined("?", "&", named)
        case "&": return joined("&", "&", named)
        case ";":
            return joined(";", ";") { name, value in named(name, value) }
        case "/", ".": return joined(String(sign), String(sign)) { HTTPURL.encode($1) }
        case "#": return joined("#", ",") { encodeReserved($1) }
        default:
            guard values.allSatisfy({ $0.value != nil }) else { return nil }
            guard sign == "+" else { return joined("", ",") { HTTPURL.encode($1) } }
            return joined("", ",") { encodeReserved($1, besides: isInQuery ? "#" : "?#") }
        }
    }

    /// Encodes characters not allowed in URLs, and keeps reserved ones (RFC 6570, section 3.2.3).
    ///
    /// A `%` that does not begin a code is encoded.
    private static func encodeReserved(_ text: String, besides others: String = "") -> String {
        var out = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            let code = rest.prefix(2)
            let isKept =
                character == "%"
                ? code.count == 2 && code.allSatisfy { $0.isASCII && $0.isHexDigit }
                : ":/?#[]@!$&'()*+,;=".contains(character) && !others.contains(character)
            out += isKept ? String(character) : HTTPURL.encode(String(character))
        }
        return out
    }

    private struct Parser {
        let text: String
        let option: String
        var rest: Substring

        func failure(_ what: String, at index: Substring.Index? = nil) -> BridgeError {
            let position = text.distance(from: text.startIndex, to: index ?? rest.startIndex) + 1
            return BridgeError(
                .configuration, "\(option): \"\(text)\" is not a template: \(what) at character \(position)",
                remedy:
                    #"write variables as {name}, optional parts in ( ), and \ before a literal character"#
            )
        }

        mutating func parts(isGroup: Bool) throws -> [Part] {
            let start = rest.startIndex
            var parts: [Part] = []
            var literal = ""
            func flush() {
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
            }
            while let character = rest.first {
                rest.removeFirst()
                switch character {
                case "\\":
                    guard let escaped = rest.popFirst() else { throw failure("nothing follows the \\") }
                    literal.append(escaped)
                case "(":
                    let open = text.index(before: rest.startIndex)
                    let follows = literal.last.map { $0.isLetter || $0.isNumber } ?? false
                    flush()
                    let group = try self.parts(isGroup: true)
                    if follows, let name = Self.soleKey(group) { throw literalFailure(name, at: open) }
                    parts.append(.group(group))
                case ")":
                    guard isGroup else { throw failure("a ) without its (") }
                    flush()
                    return parts
                case "{":
                    flush()
                    parts.append(try expression())
                case "|":
                    flush()
                    parts.append(.expression(" ", [try name(until: "|")]))
                case "}": throw failure("a } without its {")
                default: literal.append(character)
                }
            }
            if isGroup { throw failure("the ( is not closed", at: text.index(before: start)) }
            flush()
            return parts
        }

        /// Returns the variable of a group that contains only an object's value, with or without quotes.
        ///
        /// After a name, as in OData's `/Users({key})` and `/Users('{key}')`, such a group is not an optional part: the
        /// path `/Users7` does not exist.
        private static func soleKey(_ group: [Part]) -> String? {
            var parts = group[...]
            if parts.count == 3, parts.first == parts.last,
                ["'", "\""].contains(where: { parts.first == .literal($0) })
            {
                parts = parts.dropFirst().dropLast()
            }
            guard parts.count == 1, case .expression(" ", let names)? = parts.first, let name = names.first,
                ["key", "object", "parent"].contains(name.prefix { $0 != "." })
            else { return nil }
            return name
        }

        private func literalFailure(_ name: String, at index: Substring.Index) -> BridgeError {
            let position = text.distance(from: text.startIndex, to: index) + 1
            return BridgeError(
                .configuration,
                "\(option): \"\(text)\": ( ) around {\(name)} at character \(position) is an optional part, and is not sent",
                remedy: #"write \( and \) for parentheses that are sent, as in /Users\({key}\)"#)
        }

        private mutating func expression() throws -> Part {
            var sign: Character = " "
            if let first = rest.first, "+#./;?&".contains(first) {
                sign = first
                rest.removeFirst()
            }
            let all = try name(until: "}")
            let names = all.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            if names.contains(where: \.isEmpty) { throw failure("a variable without a name") }
            return .expression(sign, names)
        }

        private mutating func name(until end: Character) throws -> String {
            let start = rest.startIndex
            let name = rest.prefix { $0 != end }
            guard name.endIndex < rest.endIndex else { throw failure("the \(end) of a variable is missing", at: start) }
            guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || "_-.,@".contains($0) }) else {
                throw failure("\"\(name)\" names no variable", at: start)
            }
            rest = rest[name.endIndex...].dropFirst()
            return String(name)
        }
    }
}
