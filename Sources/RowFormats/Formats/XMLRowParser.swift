import BridgeKit
import BridgeXML
import RecordBatch

/// Parses the rows of an XML document: the elements with a given name, as they end.
///
/// A record's member is a child element, `@name` an attribute, and `#text` the text next to either; names have no
/// namespaces. Only an attribute with a prefix keeps it beside another one with its local name. A repeated element
/// becomes a list; an element without attributes and children becomes its text.
final class XMLRowParser: RowParser {
    private let sink: RowElements
    private let parser: XMLPushParser
    /// The encoding of a document that does not declare one; nil if nothing else says it, or after the beginning.
    private var undeclared: String?
    /// Whether the text has more than white space.
    private var hasContent = false

    /// - Parameters:
    ///   - names: The records' local name, and those of the elements around it; empty for the root's children.
    ///   - undeclared: The encoding of a document that does not declare one; nil for UTF-8.
    init(_ names: [String], subject: String, limits: RowLimits, undeclared: String? = nil) throws {
        sink = RowElements(names, limits)
        parser = try XMLPushParser(sink: sink, subject: subject)
        self.undeclared = undeclared
    }

    func parse(_ text: ArraySlice<UInt8>, into sink: RowSink) throws {
        self.sink.rows = sink
        if let encoding = undeclared {
            undeclared = nil
            // The document's own declaration takes precedence. RFC 7303, section 3, says otherwise, but servers do not
            // follow it.
            let start = text.prefix(200)
            let isMarked = (start.first ?? 0) >= 0x80 || start.prefix(2).contains(0)
            if !isMarked, !String(decoding: start, as: UTF8.self).contains("encoding=") { parser.setEncoding(encoding) }
        }
        hasContent = hasContent || !text.allSatisfy(JSONScan.isSpace)
        try wordingFaults { try parser.feed(text) }
    }

    func finish(into sink: RowSink) throws -> Bool {
        self.sink.rows = sink
        guard hasContent else { throw FileFault(reason: "is empty where XML was expected") }
        try wordingFaults { try parser.finish() }
        sink.surroundings = self.sink.surroundings
        if !self.sink.hasRecords {
            if let fault = self.sink.fault { throw fault }
            sink.report.warn("the file \(sink.subject) has no element for a record")
        }
        return true
    }

    /// Rewords the parser's faults: it is written for SOAP, and its messages are about replies.
    private func wordingFaults(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as BridgeError where error.code == .malformed || error.code == .limit {
            var reason = error.message
            if reason.hasPrefix("it ") { reason.removeFirst(3) }
            let isTooLarge = error.code == .limit && reason.contains("in one record")
            if reason.contains("DOCTYPE") { reason = "has a DOCTYPE, which bmo does not read" }
            throw FileFault(reason: reason, remedy: isTooLarge ? "raise max_record_bytes" : nil)
        }
    }
}

/// Builds records from the events of the parser.
private final class RowElements: XMLEventSink {
    private static let maximumDepth = 100
    /// Words in the names of attributes that say why a document has no records.
    private static let failureWords = ["err", "code", "message", "msg", "fault", "fail", "status", "reason"]
    private static let schemaInstance: StaticString = "http://www.w3.org/2001/XMLSchema-instance"

    private final class Node {
        let name: String
        var attributes: [(name: String, value: String)] = []
        var children: [Node] = []
        var text: [UInt8] = []
        var isNil = false

        init(_ name: String) { self.name = name }
    }

    var rows: RowSink?
    private(set) var hasRecords = false
    /// Whether the document has the element that ``names`` puts around the records.
    private var hasList = false
    /// The root's name, and whether it has neither attributes nor content.
    private var root = ""
    private var isRootEmpty = true
    private let names: [String]
    private let limits: RowLimits
    /// The names of the open elements outside the record.
    private var outer: [String] = []
    /// The open elements of a record, the record first.
    private var stack: [Node] = []
    private var size = 0
    private(set) var surroundings = Surroundings()
    /// The places of the open elements outside the record in ``surroundings``, as far as that keeps them.
    private var kept: [Int?] = []
    /// The text since the last tag outside the record.
    private var outerText: [UInt8] = []

    init(_ names: [String], _ limits: RowLimits) {
        self.names = names
        self.limits = limits
    }

    /// The fault of a document without records that may be a message in their place; nil for an empty list.
    ///
    /// An empty list has the element that the path of the records puts around them, or nothing at all.
    var fault: FileFault? {
        if hasList || isRootEmpty { return nil }
        let shown = root.prefix(80)
        let path = "\(shown)/\(names.last ?? "NAME")"
        return FileFault(
            reason: "has no element for a record; its root is <\(shown)>",
            remedy: "if this is a message in place of the records, sync again later; if it is a list without records, "
                + "set records to their path with the element around them, such as \(path)")
    }

    private var isRecord: Bool {
        names.isEmpty
            ? outer.count == 2
            : outer.count >= names.count && outer.suffix(names.count).elementsEqual(names)
    }

    override func startElement(_ element: XMLStartElement) throws(BridgeError) {
        let name = element.localName
        if stack.isEmpty {
            outer.append(name)
            if outer.count == 1 {
                root = name
                surroundings.root = name
                // An attribute may be the date of an empty list, or an error in its place.
                isRootEmpty = (0..<element.attributeCount).allSatisfy { index in
                    guard let attribute = element.attribute(index), !attribute.isIn(Self.schemaInstance) else {
                        return true
                    }
                    let name = attribute.localName.lowercased()
                    return !Self.failureWords.contains { name.contains($0) }
                }
            } else {
                isRootEmpty = false
            }
            guard isRecord else {
                if names.count > 1, outer.suffix(names.count - 1).elementsEqual(names.dropLast()) {
                    hasList = true
                    if !hasRecords { surroundings.records = outer.dropFirst() + names.suffix(1) }
                }
                if outer.count > Self.maximumDepth { throw tooDeep }
                keep(element)
                return
            }
            if !hasRecords { surroundings.records = Array(outer.dropFirst()) }
            hasRecords = true
            size = 0
        }
        guard stack.count < Self.maximumDepth else { throw tooDeep }
        let node = Node(name)
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            let value = attribute.value
            if attribute.isIn(Self.schemaInstance) {
                if attribute.isNamed("nil") { node.isNil = value == "true" || value == "1" }
                continue
            }
            let name = Self.name(of: attribute, at: index, in: element)
            // An empty attribute also costs memory: its name, and its entry in the list.
            try grow(by: value.utf8.count + name.utf8.count + 48)
            node.attributes.append(("@" + name, value))
        }
        try grow(by: 64)
        stack.last?.children.append(node)
        stack.append(node)
    }

    override func endElement() throws(BridgeError) {
        guard let node = stack.popLast() else {
            outer.removeLast()
            endKept()
            return
        }
        guard stack.isEmpty else { return }
        outer.removeLast()
        guard let rows, rows.advance() else { return }
        rows.writer.object {
            rows.writeProvenance()
            writeMembers(of: node, rows.writer)
        }
    }

    override func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        guard let node = stack.last else {
            isRootEmpty = isRootEmpty && bytes.allSatisfy(JSONScan.isSpace)
            outerText += bytes.prefix(max(0, Surroundings.textBytes - outerText.count))
            return
        }
        try grow(by: bytes.count)
        node.text += bytes
    }

    /// Keeps an element outside the record.
    private func keep(_ element: XMLStartElement) {
        outerText = []
        if let parent = kept.last, let parent { surroundings.elements[parent].hasElements = true }
        guard surroundings.elements.count < Surroundings.most else { return kept.append(nil) }
        let attributes = (0..<min(element.attributeCount, 20)).compactMap { index -> (name: String, value: String)? in
            guard let attribute = element.attribute(index), !attribute.isIn(Self.schemaInstance),
                attribute.value.utf8.count <= Surroundings.textBytes
            else { return nil }
            return (Self.name(of: attribute, at: index, in: element), attribute.value)
        }
        kept.append(surroundings.elements.count)
        surroundings.elements.append(Surroundings.Element(names: Array(outer.dropFirst()), attributes: attributes))
    }

    /// Returns an attribute's local name, with its prefix where another attribute of the element has that name.
    private static func name(of attribute: XMLAttribute, at index: Int, in element: XMLStartElement) -> String {
        guard element.needsPrefix(index, counts: { !$0.isIn(schemaInstance) }) else { return attribute.localName }
        return String(decoding: attribute.prefixBytes, as: UTF8.self) + ":" + attribute.localName
    }

    private func endKept() {
        defer { outerText = [] }
        guard let place = kept.popLast(), let place, !surroundings.elements[place].hasElements else { return }
        surroundings.elements[place].text = String(decoding: Self.trimmed(outerText), as: UTF8.self)
    }

    private func grow(by count: Int) throws(BridgeError) {
        size += count
        guard size <= limits.record else {
            throw BridgeError(.limit, "it has more than \(RowLimits.words(limits.record)) in one record")
        }
    }

    private var tooDeep: BridgeError {
        BridgeError(.limit, "it nests elements deeper than \(Self.maximumDepth) levels")
    }

    private func writeMembers(of node: Node, _ writer: RecordBatchWriter) {
        for attribute in node.attributes { writer.member(attribute.name, attribute.value) }
        var groups: [(name: String, nodes: [Node])] = []
        var places: [String: Int] = [:]
        for child in node.children {
            if let place = places[child.name] {
                groups[place].nodes.append(child)
            } else {
                places[child.name] = groups.count
                groups.append((child.name, [child]))
            }
        }
        for group in groups {
            writer.key(group.name)
            guard group.nodes.count > 1 else {
                write(group.nodes[0], writer)
                continue
            }
            writer.array { for child in group.nodes { write(child, writer) } }
        }
        let text = Self.trimmed(node.text)
        if !text.isEmpty { writer.member("#text", String(decoding: text, as: UTF8.self)) }
    }

    private func write(_ node: Node, _ writer: RecordBatchWriter) {
        if node.isNil {
            writer.null()
        } else if node.attributes.isEmpty, node.children.isEmpty {
            node.text.withUnsafeBytes { writer.text(utf8: $0) }
        } else {
            writer.object { writeMembers(of: node, writer) }
        }
    }

    private static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        guard let first = text.firstIndex(where: { !JSONScan.isSpace($0) }),
            let last = text.lastIndex(where: { !JSONScan.isSpace($0) })
        else { return [] }
        return text[first...last]
    }
}
