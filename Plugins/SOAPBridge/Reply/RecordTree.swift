internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// The record being read: a tree in two reused arrays.
///
/// Children of one name must stand together in a batch, but may come interleaved: so a record is written when it is whole.
struct RecordTree {
    enum Limits {
        /// Of one element's text or one attribute, in bytes.
        static let text = 64 << 20
        /// Of a record's text and its nodes, in bytes.
        static let record = 256 << 20
    }

    struct Node {
        var name: Int32
        var type: ReplyPlan.TypeNumber
        var kind: Kind
        var isRepeated = false
        var isNil = false
        /// An earlier sibling of the same name leads to this one.
        var isFollower = false
        /// A SOAP-ENC array: its children are the elements of a list, whatever their names.
        var isArray = false
        var nextSibling: Int32 = -1
        var firstChild: Int32 = -1
        var lastChild: Int32 = -1
        var nextOfName: Int32 = -1
        /// Within ``Limits/record``, so that 32 bits suffice.
        private var textOffset: Int32 = 0
        private var textLength: Int32 = 0

        init(name: Int32, type: ReplyPlan.TypeNumber, kind: Kind) {
            self.name = name
            self.type = type
            self.kind = kind
        }

        var textStart: Int {
            get { Int(textOffset) }
            set { textOffset = Int32(truncatingIfNeeded: newValue) }
        }
        var textCount: Int {
            get { Int(textLength) }
            set { textLength = Int32(truncatingIfNeeded: newValue) }
        }
    }

    enum Kind: UInt8 {
        case element, attribute, text
        /// The id of an element that stands elsewhere in the reply.
        case reference
        /// The Content-ID of a part that holds the value.
        case attachment
    }

    private(set) var nodes: [Node] = []
    private(set) var text: [UInt8] = []
    /// Something in it stands elsewhere: it can't be written before the whole reply was read.
    private(set) var isDeferred = false

    var isEmpty: Bool { nodes.isEmpty }

    /// Forgets the record and keeps the memory, unless it was an unusually large one.
    mutating func clear() {
        nodes.removeAll(keepingCapacity: nodes.capacity < 65_536)
        text.removeAll(keepingCapacity: text.capacity < 1 << 20)
        isDeferred = false
    }

    /// Adds a node below `parent`, or the root with parent -1, and returns its index.
    mutating func add(_ node: Node, to parent: Int32) throws(BridgeError) -> Int32 {
        let index = Int32(nodes.count)
        guard nodes.count * MemoryLayout<Node>.stride + text.count <= Limits.record else {
            throw BridgeError(.limit, "a record of the reply is larger than \(Limits.record >> 20) MiB")
        }
        nodes.append(node)
        guard parent >= 0 else { return index }
        let last = nodes[Int(parent)].lastChild
        if last >= 0 { nodes[Int(last)].nextSibling = index } else { nodes[Int(parent)].firstChild = index }
        nodes[Int(parent)].lastChild = index
        return index
    }

    mutating func setNil(_ index: Int32) { nodes[Int(index)].isNil = true }

    /// Adds an attribute; `name` is that of the key with its `@`.
    mutating func addAttribute(_ name: Int32, _ attribute: XMLAttribute, to parent: Int32) throws(BridgeError) {
        guard attribute.rawValue.count <= Limits.text else { throw Self.tooLong }
        let index = try add(Node(name: name, type: ReplyPlan.anyType, kind: .attribute), to: parent)
        nodes[Int(index)].textStart = text.count
        attribute.appendValue(to: &text)
        nodes[Int(index)].textCount = text.count - nodes[Int(index)].textStart
    }

    /// Says that the value of `parent` stands elsewhere, under `id`.
    mutating func addReference(_ id: [UInt8], kind: Kind, to parent: Int32) throws(BridgeError) {
        let index = try add(Node(name: -1, type: ReplyPlan.anyType, kind: kind), to: parent)
        nodes[Int(index)].textStart = text.count
        nodes[Int(index)].textCount = id.count
        text.append(contentsOf: id)
        isDeferred = true
    }

    mutating func setArray(_ index: Int32) { nodes[Int(index)].isArray = true }
    mutating func setType(_ index: Int32, _ type: ReplyPlan.TypeNumber) { nodes[Int(index)].type = type }

    /// The text of a node, copied.
    func bytes(of index: Int32) -> [UInt8] {
        let node = nodes[Int(index)]
        return Array(text[node.textStart..<(node.textStart + node.textCount)])
    }

    /// The child that names the element that has the value; nil where it is here, or an attachment.
    func reference(of node: Node) -> Int32? {
        guard isDeferred else { return nil }
        var child = node.firstChild
        while child >= 0 {
            if nodes[Int(child)].kind == .reference { return child }
            child = nodes[Int(child)].nextSibling
        }
        return nil
    }

    /// Adds a piece of text: a run between two tags is one node, however it was cut.
    ///
    /// - Parameter isElementOnly: White space at the beginning of a run does not matter.
    mutating func addText(_ bytes: UnsafeRawBufferPointer, to parent: Int32, isElementOnly: Bool) throws(BridgeError) {
        var run = nodes[Int(parent)].lastChild
        var bytes = bytes
        if run < 0 || nodes[Int(run)].kind != .text {
            if isElementOnly {
                bytes = UnsafeRawBufferPointer(rebasing: bytes.drop(while: LexicalValue.isSpace))
                if bytes.isEmpty { return }
            }
            run = try add(Node(name: -1, type: ReplyPlan.anyType, kind: .text), to: parent)
            nodes[Int(run)].textStart = text.count
        }
        guard nodes[Int(run)].textCount + bytes.count <= Limits.text else { throw Self.tooLong }
        guard text.count + bytes.count <= Limits.record else {
            throw BridgeError(.limit, "a record of the reply is larger than \(Limits.record >> 20) MiB")
        }
        text.append(contentsOf: bytes)
        nodes[Int(run)].textCount += bytes.count
    }

    mutating func markFollower(_ index: Int32, after previous: Int32) {
        nodes[Int(index)].isFollower = true
        nodes[Int(previous)].nextOfName = index
    }

    private static var tooLong: BridgeError {
        BridgeError(.limit, "a text of the reply is longer than \(Limits.text >> 20) MiB")
    }

    /// A number that differs, all but surely, for records with other text.
    var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(nodes.count)
        text.withUnsafeBytes { bytes in
            var index = 0
            while index + 8 <= bytes.count {
                hash = (hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 32
                index += 8
            }
            while index < bytes.count {
                hash = (hash ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01B3
                index += 1
            }
        }
        return hash
    }
}

// MARK: As bytes

extension RecordTree {
    /// The last-begun element and all below it, as bytes for a ``SpillFile``; `textStart` is where its text begins.
    func bytes(from index: Int32, textStart: Int) -> [UInt8] {
        var part = Array(nodes[Int(index)...])
        for place in part.indices {
            part[place].shift(by: index, textStart: textStart)
        }
        if !part.isEmpty { part[0].nextSibling = -1 }
        var out: [UInt8] = []
        withUnsafeBytes(of: Int64(part.count)) { out.append(contentsOf: $0) }
        withUnsafeBytes(of: Int64(isDeferred ? 1 : 0)) { out.append(contentsOf: $0) }
        part.withUnsafeBytes { out.append(contentsOf: $0) }
        out.append(contentsOf: text[textStart...])
        return out
    }

    /// Reads what ``bytes(from:textStart:)`` made.
    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            let count = Int(buffer.loadUnaligned(as: Int64.self))
            isDeferred = buffer.loadUnaligned(fromByteOffset: 8, as: Int64.self) != 0
            let end = 16 + count * MemoryLayout<Node>.stride
            nodes = (0..<count).map {
                buffer.loadUnaligned(fromByteOffset: 16 + $0 * MemoryLayout<Node>.stride, as: Node.self)
            }
            text = Array(buffer[end...])
        }
    }
}

extension RecordTree.Node {
    /// Counts indices from another element and another text.
    fileprivate mutating func shift(by index: Int32, textStart start: Int) {
        if nextSibling >= 0 { nextSibling -= index }
        if firstChild >= 0 { firstChild -= index }
        if lastChild >= 0 { lastChild -= index }
        textStart -= start
    }
}
