internal import BridgeKit
internal import RecordBatch

/// Text, attributes and attachments as typed values.
extension RecordEmitter {
    mutating func writeAttribute(
        _ node: RecordTree.Node, _ type: ReplyPlan.ContentType, _ tree: borrowing RecordTree,
        _ plan: ReplyPlan, _ writer: RecordBatchWriter
    ) {
        let declared = plan.attribute(node.name, of: type)
        let kind = declared?.kind ?? .text
        if isExact, declared?.isQualifiedName == true { obstacle = Self.qualifiedName }
        let fits = tree.text.withUnsafeBytes { text in
            var value = Self.span(text, node)
            if isExact {
                writer.text(utf8: value)
                return true
            }
            if declared?.isCollapsed == true { value = XMLSpace.trimmed(value) }
            if value.isEmpty, kind == .integer || kind == .decimal || kind == .double || kind == .boolean {
                writer.null()
                return true
            }
            if kind == .hex, !LexicalValue.isHex(value) { return false }
            return LexicalValue.write(value, as: kind, to: writer)
        }
        if !fits, kind == .hex {
            tree.text.withUnsafeBytes { refuseHex(Self.span($0, node), name: node.name, writer) }
        } else if !fits {
            note(.misfit, node.name)
        }
    }

    /// Writes the member `#text`: always for simple content, for mixed content only if there is any text.
    mutating func writeObjectText(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, hasElements: Bool, _ tree: borrowing RecordTree,
        _ plan: ReplyPlan, _ names: borrowing NameTable, _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        let isSimple = type.text != nil || (!hasElements && !type.isComplex)
        if !isSimple {
            var child = node.firstChild
            var isBlank = true
            while child >= 0, isBlank {
                let run = tree.nodes[Int(child)]
                if run.kind == .text {
                    isBlank = tree.text.withUnsafeBytes { XMLSpace.isAll(of: Self.span($0, run)) }
                }
                child = run.nextSibling
            }
            if isBlank { return }
            if isExact, hasElements {
                obstacle = "it has text between elements"
            } else if isExact, !type.isMixed {
                obstacle = "it has text where the schema has only elements"
            }
        } else if type.text == nil, !Self.hasText(node, tree) {
            return
        }
        names.withName(plan.textName) { writer.key(utf8: $0) }
        if isSimple || type.isMixed {
            return try writeText(of: node, type, tree, writer)
        }
        // Text in element-only content: its runs, without the white space around them.
        var joined: [UInt8] = []
        var child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text {
                tree.text.withUnsafeBytes {
                    let text = XMLSpace.trimmed(Self.span($0, run))
                    if !joined.isEmpty, !text.isEmpty { joined.append(0x20) }
                    joined.append(contentsOf: text)
                }
            }
            child = run.nextSibling
        }
        joined.withUnsafeBytes { writer.text(utf8: $0) }
    }

    private static func hasText(_ node: RecordTree.Node, _ tree: borrowing RecordTree) -> Bool {
        var child = node.firstChild
        while child >= 0 {
            let kind = tree.nodes[Int(child)].kind
            if kind == .text || kind == .attachment { return true }
            child = tree.nodes[Int(child)].nextSibling
        }
        return false
    }

    mutating func writeText(
        of node: RecordTree.Node, _ type: ReplyPlan.ContentType, _ tree: borrowing RecordTree,
        _ writer: RecordBatchWriter
    ) throws(BridgeError) {
        var only: RecordTree.Node?
        var count = 0
        var child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text {
                only = run
                count += 1
            } else if run.kind == .attachment {
                return try writeAttachment(tree.bytes(of: child), writer)
            }
            child = run.nextSibling
        }
        guard let only else {
            return write(UnsafeRawBufferPointer(start: nil, count: 0), type, name: node.name, writer)
        }
        if count == 1 {
            tree.text.withUnsafeBytes { write(Self.span($0, only), type, name: node.name, writer) }
            return
        }
        var joined: [UInt8] = []
        child = node.firstChild
        while child >= 0 {
            let run = tree.nodes[Int(child)]
            if run.kind == .text { tree.text.withUnsafeBytes { joined.append(contentsOf: Self.span($0, run)) } }
            child = run.nextSibling
        }
        joined.withUnsafeBytes { write($0, type, name: node.name, writer) }
    }

    /// Writes the text of an element, whose name deviations are noted under.
    mutating func write(
        _ text: UnsafeRawBufferPointer, _ type: ReplyPlan.ContentType, name: Int32, _ writer: RecordBatchWriter
    ) {
        let kind = type.text ?? .text
        if isExact {
            if type.isQualifiedName, !XMLSpace.isAll(of: text) { obstacle = Self.qualifiedName }
            return writer.text(utf8: text)
        }
        if type.isList { return writeList(text, kind, name: name, writer) }
        if type.isEmptyNull, XMLSpace.isAll(of: text) {
            note(.emptyValue, name)
            return writer.null()
        }
        if kind == .hex, !LexicalValue.isHex(text) { return refuseHex(text, name: name, writer) }
        let value = type.isCollapsed ? XMLSpace.trimmed(text) : text
        if !LexicalValue.write(value, as: kind, to: writer) { note(.misfit, name) }
    }

    private static let qualifiedName = "it has a qualified name (xs:QName), whose prefix means nothing in a request"

    /// Rejects the record: an attribute for bytes would take the text for base64, also when the record is retried.
    private mutating func refuseHex(
        _ text: UnsafeRawBufferPointer, name: Int32, _ writer: RecordBatchWriter
    ) {
        wrongHex = wrongHex ?? name
        let text = String(decoding: text, as: UTF8.self)
        writer.object { writer.member("hexBinary", text) }
    }

    /// Writes values separated by white space (XSD part 2, section 4.1.2.2).
    private mutating func writeList(
        _ text: UnsafeRawBufferPointer, _ kind: SimpleKind, name: Int32, _ writer: RecordBatchWriter
    ) {
        writer.beginArray()
        var rest = text[...]
        while true {
            rest = rest.drop(while: XMLSpace.contains)
            guard !rest.isEmpty else { break }
            let word = rest.prefix { !XMLSpace.contains($0) }
            if kind == .hex, !LexicalValue.isHex(UnsafeRawBufferPointer(rebasing: word)) {
                refuseHex(UnsafeRawBufferPointer(rebasing: word), name: name, writer)
                rest = rest.dropFirst(word.count)
                continue
            }
            if !LexicalValue.write(UnsafeRawBufferPointer(rebasing: word), as: kind, to: writer) {
                note(.misfit, name)
            }
            rest = rest.dropFirst(word.count)
        }
        writer.endArray()
    }

    private mutating func writeAttachment(_ href: [UInt8], _ writer: RecordBatchWriter) throws(BridgeError) {
        let reference = String(decoding: href, as: UTF8.self)
        let name = AttachmentName.decoded(reference)
        guard let bytes = try deferred.part(name) else {
            missingPart = missingPart ?? name
            return writer.object { writer.member("href", reference) }
        }
        bytes.withUnsafeBytes { writer.bytes($0) }
    }

    static func span(_ text: UnsafeRawBufferPointer, _ node: RecordTree.Node) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[node.textStart..<(node.textStart + node.textCount)])
    }
}
