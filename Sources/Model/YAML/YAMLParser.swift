// Yams composes whole documents only: it stops at the first duplicate key, loses the marks of aliases and expands
// aliases without a limit. CYaml is the libyaml inside Yams; its events leave these decisions to the parser below.
import CYaml

/// Composes one YAML document from libyaml's events, within limits.
///
/// Holds pointers into libyaml's parser during one ``parse(_:)``, so it is used once and never shared.
struct YAMLParser {
    /// The maximum number of nested collections.
    static let maxDepth = 64
    /// The maximum number of nodes, with aliases expanded.
    static let maxNodes = 100_000

    /// On the heap: libyaml keeps a pointer into the parser, which must not move.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private var anchors: [String: YAMLNode] = [:]
    private var nodes = 0
    private var faults: [YAMLFault] = []

    private let nodeLimit: Int

    private init(_ parser: UnsafeMutablePointer<yaml_parser_t>, nodeLimit: Int) {
        self.parser = parser
        self.nodeLimit = nodeLimit
    }

    /// Parses a text; returns the root, or nil if it has no value, and the faults that do not prevent reading it.
    ///
    /// - Parameter nodeLimit: The maximum number of nodes, with aliases expanded.
    static func parse(_ text: String, nodeLimit: Int = maxNodes) -> (root: YAMLNode?, faults: [YAMLFault]) {
        var text = text
        return text.withUTF8 { bytes in
            let pointer = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
            defer { pointer.deallocate() }
            guard yaml_parser_initialize(pointer) == 1 else {
                return (nil, [YAMLFault(mark: .start, message: "out of memory", remedy: "free some memory")])
            }
            defer { yaml_parser_delete(pointer) }
            yaml_parser_set_encoding(pointer, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(pointer, bytes.baseAddress, bytes.count)
            var parser = YAMLParser(pointer, nodeLimit: nodeLimit)
            do throws(YAMLFault) {
                let root = try parser.document(text: bytes)
                return (root, parser.faults)
            } catch {
                return (nil, parser.faults + [error])
            }
        }
    }

    private enum Event {
        case end
        case start
        case alias(String)
        case scalar(YAMLNode, anchor: String?)
        case sequence(anchor: String?)
        case mapping(anchor: String?)
        case close
    }

    private mutating func document(text: UnsafeBufferPointer<UInt8>) throws(YAMLFault) -> YAMLNode? {
        _ = try next(text)
        guard case .start = try next(text).event else { return nil }
        let (event, mark) = try next(text)
        let root = try node(event, mark, depth: 1, text)
        _ = try next(text)
        let (more, place) = try next(text)
        if case .start = more {
            faults.append(
                YAMLFault(
                    mark: place, message: "a second document begins here",
                    remedy: "keep one document in a file: remove \"---\""))
        }
        return root
    }

    private mutating func node(
        _ event: Event, _ mark: YAMLMark, depth: Int, _ text: UnsafeBufferPointer<UInt8>
    ) throws(YAMLFault) -> YAMLNode {
        switch event {
        case .alias(let name):
            // Do not show the names of aliases and tags: they may be a secret that begins with * or !.
            guard var node = anchors[name] else {
                throw YAMLFault(
                    mark: mark, message: "an alias, *NAME, without an anchor before it",
                    remedy: "write &NAME in front of the value it stands for, or a text that begins with * in quotes")
            }
            try count(node.count, mark)
            try check(depth: depth + node.height - 1, mark)
            node.mark = mark
            return node
        case .scalar(let node, let anchor):
            try count(1, mark)
            if let anchor { anchors[anchor] = node }
            return node
        case .sequence(let anchor):
            return try sequence(anchor, mark, depth: depth, text)
        case .mapping(let anchor):
            return try mapping(anchor, mark, depth: depth, text)
        case .start, .end, .close:
            throw YAMLFault(mark: mark, message: "not valid YAML", remedy: "check the lines before this place")
        }
    }

    private mutating func sequence(
        _ anchor: String?, _ mark: YAMLMark, depth: Int, _ text: UnsafeBufferPointer<UInt8>
    ) throws(YAMLFault) -> YAMLNode {
        try count(1, mark)
        try check(depth: depth, mark)
        var result = YAMLNode(content: .sequence([]), mark: mark, height: 1)
        var elements: [YAMLNode] = []
        while true {
            let (event, place) = try next(text)
            if case .close = event { break }
            let element = try node(event, place, depth: depth + 1, text)
            result.count += element.count
            result.height = max(result.height, element.height + 1)
            elements.append(element)
        }
        result.content = .sequence(elements)
        if let anchor { anchors[anchor] = result }
        return result
    }

    private mutating func mapping(
        _ anchor: String?, _ mark: YAMLMark, depth: Int, _ text: UnsafeBufferPointer<UInt8>
    ) throws(YAMLFault) -> YAMLNode {
        try count(1, mark)
        try check(depth: depth, mark)
        var pairs: [YAMLNode.Pair] = []
        var merged: [YAMLNode.Pair] = []
        // By their bytes, as records keep names apart: a composed letter and a decomposed one are two names.
        var places: [[UInt8]: YAMLMark] = [:]
        while true {
            let (event, place) = try next(text)
            if case .close = event { break }
            let key = try node(event, place, depth: depth + 1, text)
            let (valueEvent, valuePlace) = try next(text)
            let value = try node(valueEvent, valuePlace, depth: depth + 1, text)
            if case .scalar("<<", plain: true) = key.content {
                merged += mergedPairs(value)
                continue
            }
            if let name = key.scalarText {
                if let first = places[Array(name.utf8)] {
                    faults.append(
                        YAMLFault(
                            mark: key.mark, message: "duplicate key \(quoted(name))",
                            remedy: "it is at \(first.line):\(first.column) already: remove or rename one"))
                    continue
                }
                places[Array(name.utf8)] = key.mark
            }
            pairs.append(YAMLNode.Pair(key: key, value: value))
        }
        // A merge key adds the members that the mapping lacks; the first of several merged mappings wins.
        for pair in merged {
            guard let name = pair.key.scalarText.map({ Array($0.utf8) }), places[name] == nil else { continue }
            places[name] = pair.key.mark
            pairs.append(pair)
        }
        var result = YAMLNode(content: .mapping(pairs), mark: mark, height: 1)
        for pair in pairs {
            result.count += pair.key.count + pair.value.count
            result.height = max(result.height, pair.key.height + 1, pair.value.height + 1)
        }
        if let anchor { anchors[anchor] = result }
        return result
    }

    private mutating func mergedPairs(_ value: YAMLNode) -> [YAMLNode.Pair] {
        let sources: [YAMLNode] = if case .sequence(let elements) = value.content { elements } else { [value] }
        var pairs: [YAMLNode.Pair] = []
        for source in sources {
            if case .mapping(let members) = source.content {
                pairs += members
            } else {
                faults.append(
                    YAMLFault(
                        mark: source.mark, message: "\"<<\" merges mappings, this is \(source.kind.rawValue)",
                        remedy: "name an anchor of a mapping: <<: *name"))
            }
        }
        return pairs
    }

    private mutating func count(_ more: Int, _ mark: YAMLMark) throws(YAMLFault) {
        nodes += more
        guard nodes <= nodeLimit else {
            throw YAMLFault(
                mark: mark,
                message:
                    "more than \(nodeLimit == Self.maxNodes ? "100,000" : "\(nodeLimit)") values, aliases expanded",
                remedy: "use fewer aliases of aliases, or split the configuration")
        }
    }

    private func check(depth: Int, _ mark: YAMLMark) throws(YAMLFault) {
        guard depth <= Self.maxDepth else {
            throw YAMLFault(
                mark: mark, message: "more than \(Self.maxDepth) levels of nesting", remedy: "nest less deeply")
        }
    }
}

extension YAMLParser {
    private mutating func next(
        _ text: UnsafeBufferPointer<UInt8>
    ) throws(YAMLFault) -> (event: Event, mark: YAMLMark) {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLFault(parser.pointee, text: text) }
        defer { yaml_event_delete(&event) }
        let mark = YAMLMark(event.start_mark)
        switch event.type {
        case YAML_DOCUMENT_START_EVENT:
            return (.start, mark)
        case YAML_ALIAS_EVENT:
            return (.alias(string(event.data.alias.anchor) ?? ""), mark)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            var plain = scalar.style == YAML_PLAIN_SCALAR_STYLE
            // A tag before a plain scalar makes it a text (`!`, `!!str`), or names its type redundantly.
            if let tag = string(scalar.tag) {
                if tag == "!" || tag == "tag:yaml.org,2002:str" { plain = false }
                check(tag: tag, mark)
            }
            let node = YAMLNode(content: .scalar(String(decoding: bytes, as: UTF8.self), plain: plain), mark: mark)
            return (.scalar(node, anchor: string(scalar.anchor)), mark)
        case YAML_SEQUENCE_START_EVENT:
            if let tag = string(event.data.sequence_start.tag) { check(tag: tag, mark) }
            return (.sequence(anchor: string(event.data.sequence_start.anchor)), mark)
        case YAML_MAPPING_START_EVENT:
            if let tag = string(event.data.mapping_start.tag) { check(tag: tag, mark) }
            return (.mapping(anchor: string(event.data.mapping_start.anchor)), mark)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            return (.close, mark)
        default:
            return (.end, mark)
        }
    }

    private mutating func check(tag: String, _ mark: YAMLMark) {
        let core = ["str", "int", "float", "bool", "null", "map", "seq"].map { "tag:yaml.org,2002:\($0)" }
        guard tag != "!", !core.contains(tag) else { return }
        faults.append(
            YAMLFault(
                mark: mark, message: "a tag, !NAME", remedy: "remove it, or write a text that begins with ! in quotes"))
    }

    private func string(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}

extension YAMLMark {
    init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}

extension YAMLFault {
    /// Creates a fault from libyaml's error, with a remedy for the most common ones.
    init(_ parser: yaml_parser_t, text: UnsafeBufferPointer<UInt8>) {
        guard let words = parser.problem.map({ String(cString: $0) }) else {
            self.init(mark: YAMLMark(parser.mark), message: "nested too deeply to be read", remedy: "nest less deeply")
            return
        }
        if parser.error == YAML_READER_ERROR {
            let offset = min(Int(parser.problem_offset), text.count)
            let before = text[..<offset]
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            let column = String(decoding: text[lineStart..<offset], as: UTF8.self).unicodeScalars.count + 1
            self.init(
                mark: YAMLMark(line: line, column: column), message: "not valid YAML: \(words)",
                remedy: "remove the character")
            return
        }
        let mark = YAMLMark(parser.problem_mark)
        let offset = Int(parser.problem_mark.index)
        // The mark counts scalars; in ASCII indentation, up to a tab, these are bytes.
        let line = YAMLFault.line(mark.line, of: text)
        let indentation = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        if indentation.contains(UInt8(ascii: "\t")) {
            let column = (indentation.firstIndex(of: UInt8(ascii: "\t")) ?? indentation.startIndex) - line.startIndex
            self.init(
                mark: YAMLMark(line: mark.line, column: column + 1), message: "a tab in the indentation",
                remedy: "indent with spaces")
            return
        }
        var message = "not valid YAML: \(words)"
        if let context = parser.context.map({ String(cString: $0) }) {
            let place = YAMLMark(parser.context_mark)
            message += " \(context)" + (place == mark ? "" : " at \(place.line):\(place.column)")
        }
        let remedy =
            if words.hasPrefix("mapping values are not allowed") {
                "write a text that has \": \" in it in quotes, and check the indentation"
            } else if words.hasPrefix("found character that cannot start") {
                "write a text that begins with @, ` or % in quotes"
            } else if offset >= text.count {
                "close what is open: a quote or a bracket"
            } else {
                "check the indentation, quotes and brackets here and in the line before"
            }
        self.init(mark: mark, message: message, remedy: remedy)
    }

    private static func line(_ number: Int, of text: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>> {
        var start = 0
        for _ in 1..<max(number, 1) {
            guard let newline = text[start...].firstIndex(of: UInt8(ascii: "\n")) else { return text[text.count...] }
            start = newline + 1
        }
        return text[start...].prefix { $0 != UInt8(ascii: "\n") }
    }
}
