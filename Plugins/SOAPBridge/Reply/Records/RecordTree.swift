internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// The record being read, as a tree in two reused arrays.
///
/// A batch holds children of one name together, but a reply may interleave them: a record is written only once it is
/// complete.
struct RecordTree {
    enum Limits {
        /// The maximum of one element's text or one attribute, in bytes.
        static let text = 64 << 20
        /// The default maximum of a record's text and nodes, in bytes.
        static let record = 64 << 20
    }

    struct Node {
        var name: Int32
        var type: ReplyPlan.TypeNumber
        var kind: Kind
        var isRepeated = false
        var isNil = false
        /// Whether an earlier sibling of the same name links to this node.
        var isFollower = false
        /// Whether the node is a SOAP-ENC array, whose children are list elements regardless of their names.
        var isArray = false
        /// Why the element cannot be sent back as it is.
        var obstacle = Obstacle.none
        var nextSibling: Int32 = -1
        var firstChild: Int32 = -1
        var lastChild: Int32 = -1
        var nextOfName: Int32 = -1
        /// Within ``limit``, so 32 bits suffice.
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
        /// The identity of an element to which others may refer by WCF's numbers; 0 for none.
        ///
        /// In place of the length, because the text of an element is in a node of its own.
        var identity: UInt32 {
            get { kind == .element ? UInt32(bitPattern: textLength) : 0 }
            set { textLength = Int32(bitPattern: newValue) }
        }
    }

    enum Obstacle: UInt8 {
        case none
        /// A SOAP-ENC array leaves out places of members.
        case sparseArray
        /// Another element of the type has the local name, and it is the one that requests call by it.
        case namesake

        /// The obstacle in words; nil for none.
        var words: String? {
            switch self {
            case .none: nil
            case .sparseArray: "it has an array that leaves out places (offset, position)"
            case .namesake: "it has elements of one name in several namespaces"
            }
        }
    }

    enum Kind: UInt8 {
        case element, attribute, text
        /// The id of an element elsewhere in the reply.
        case reference
        /// The Content-ID of the part that holds the value.
        case attachment
    }

    /// The maximum of the record's text and nodes, in bytes.
    var limit = Limits.record
    private(set) var nodes: [Node] = []
    private(set) var text: [UInt8] = []
    /// Whether the record refers to another part of the reply, so that it can't be written before the reply ends.
    private(set) var isDeferred = false

    /// Whether the record has only values that are texts, each under a name of its own, and no attributes: then they are
    /// in ``members``, and the only node is the root.
    private(set) var isFlat = false
    private(set) var members: [Member] = []
    /// The number of ``members`` that have text.
    private var filledMembers = 0

    /// A value of a flat record; in any other record, two nodes take its place: an element and its text.
    struct Member {
        let name: Int32
        let type: ReplyPlan.TypeNumber
        /// Within ``limit``, so 32 bits suffice.
        let textStart: Int32
        var textCount: Int32 = 0
    }

    var isEmpty: Bool { nodes.isEmpty }

    /// Removes the record; keeps the memory unless the record was unusually large.
    mutating func clear() {
        nodes.removeAll(keepingCapacity: nodes.capacity < 65_536)
        text.removeAll(keepingCapacity: text.capacity < 1 << 20)
        members.removeAll(keepingCapacity: members.capacity < 65_536)
        filledMembers = 0
        isDeferred = false
        isFlat = false
    }

    /// Notes that the record is flat so far: it has only a root, an element without attributes.
    mutating func beginFlat() { isFlat = true }

    /// Adds a value without text to a flat record, the only one of its name.
    mutating func addMember(_ name: Int32, _ type: ReplyPlan.TypeNumber) throws(BridgeError) {
        guard nodeCount * MemoryLayout<Node>.stride + text.count <= limit else { throw tooLarge }
        members.append(Member(name: name, type: type, textStart: Int32(truncatingIfNeeded: text.count)))
    }

    /// Adds a piece of text to the last value of a flat record.
    mutating func addMemberText(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        let last = members.count - 1
        guard Int(members[last].textCount) + bytes.count <= Limits.text else { throw Self.tooLong }
        guard text.count + bytes.count <= limit else { throw tooLarge }
        text.append(contentsOf: bytes)
        if members[last].textCount == 0 { filledMembers += 1 }
        members[last].textCount += Int32(truncatingIfNeeded: bytes.count)
    }

    /// The number of nodes that the record has, or would have if it were not flat.
    private var nodeCount: Int { nodes.count + members.count + filledMembers }

    /// Turns the values of a flat record into nodes, because something follows that only nodes can hold.
    ///
    /// - Returns: The node of the last value; the root without one.
    @discardableResult
    mutating func unflatten() -> Int32 {
        isFlat = false
        var last: Int32 = 0
        for member in members {
            last = link(Node(name: member.name, type: member.type, kind: .element), to: 0)
            guard member.textCount > 0 else { continue }
            var run = Node(name: -1, type: ReplyPlan.anyType, kind: .text)
            run.textStart = Int(member.textStart)
            run.textCount = Int(member.textCount)
            _ = link(run, to: last)
        }
        members.removeAll(keepingCapacity: true)
        filledMembers = 0
        return last
    }

    /// Adds a node below `parent` (-1 for the root) and returns its index.
    mutating func add(_ node: Node, to parent: Int32) throws(BridgeError) -> Int32 {
        if isFlat { unflatten() }
        guard nodes.count * MemoryLayout<Node>.stride + text.count <= limit else { throw tooLarge }
        return link(node, to: parent)
    }

    private mutating func link(_ node: Node, to parent: Int32) -> Int32 {
        let index = Int32(nodes.count)
        nodes.append(node)
        guard parent >= 0 else { return index }
        let last = nodes[Int(parent)].lastChild
        if last >= 0 { nodes[Int(last)].nextSibling = index } else { nodes[Int(parent)].firstChild = index }
        nodes[Int(parent)].lastChild = index
        return index
    }

    private var tooLarge: BridgeError {
        BridgeError(
            .limit,
            "a record of the reply takes more than \(limit) bytes (\(MemoryLayout<Node>.stride) for each element, and its text)",
            remedy: "request less in one record, or raise max_record_bytes")
    }

    mutating func setNil(_ index: Int32) { nodes[Int(index)].isNil = true }

    /// Adds an attribute; `name` is the number of its key, which includes the `@`.
    mutating func addAttribute(_ name: Int32, _ attribute: XMLAttribute, to parent: Int32) throws(BridgeError) {
        guard attribute.rawValue.count <= Limits.text else { throw Self.tooLong }
        let index = try add(Node(name: name, type: ReplyPlan.anyType, kind: .attribute), to: parent)
        nodes[Int(index)].textStart = text.count
        attribute.appendValue(to: &text)
        nodes[Int(index)].textCount = text.count - nodes[Int(index)].textStart
    }

    /// Adds an attribute with a value other than the reply's.
    mutating func addAttribute(_ name: Int32, value: String, to parent: Int32) throws(BridgeError) {
        guard value.utf8.count <= Limits.text else { throw Self.tooLong }
        let index = try add(Node(name: name, type: ReplyPlan.anyType, kind: .attribute), to: parent)
        nodes[Int(index)].textStart = text.count
        nodes[Int(index)].textCount = value.utf8.count
        text.append(contentsOf: value.utf8)
    }

    /// Marks the value of `parent` as found elsewhere, under `id`.
    mutating func addReference(_ id: [UInt8], kind: Kind, to parent: Int32) throws(BridgeError) {
        let index = try add(Node(name: -1, type: ReplyPlan.anyType, kind: kind), to: parent)
        nodes[Int(index)].textStart = text.count
        nodes[Int(index)].textCount = id.count
        text.append(contentsOf: id)
        isDeferred = true
    }

    /// Returns the last bits of the hash of an id, other than 0.
    static func identity(of id: UInt64) -> UInt32 { max(1, UInt32(truncatingIfNeeded: id)) }

    mutating func setIdentity(_ index: Int32, _ id: UInt64) { nodes[Int(index)].identity = Self.identity(of: id) }
    mutating func setObstacle(_ index: Int32, _ obstacle: Obstacle) { nodes[Int(index)].obstacle = obstacle }
    mutating func setArray(_ index: Int32) { nodes[Int(index)].isArray = true }
    mutating func setType(_ index: Int32, _ type: ReplyPlan.TypeNumber) { nodes[Int(index)].type = type }

    /// Returns a copy of a node's text.
    func bytes(of index: Int32) -> [UInt8] {
        let node = nodes[Int(index)]
        return Array(text[node.textStart..<(node.textStart + node.textCount)])
    }

    /// Returns the child with the id of the element that holds the value; nil if the value is here or in an attachment.
    func reference(of node: Node) -> Int32? {
        guard isDeferred else { return nil }
        var child = node.firstChild
        while child >= 0 {
            if nodes[Int(child)].kind == .reference { return child }
            child = nodes[Int(child)].nextSibling
        }
        return nil
    }

    /// Adds a piece of text; all pieces between two tags form one node.
    ///
    /// - Parameter isElementOnly: Whether leading white space of a run is insignificant.
    mutating func addText(_ bytes: UnsafeRawBufferPointer, to parent: Int32, isElementOnly: Bool) throws(BridgeError) {
        var run = nodes[Int(parent)].lastChild
        var bytes = bytes
        if run < 0 || nodes[Int(run)].kind != .text {
            if isElementOnly {
                bytes = UnsafeRawBufferPointer(rebasing: bytes.drop(while: XMLSpace.contains))
                if bytes.isEmpty { return }
            }
            run = try add(Node(name: -1, type: ReplyPlan.anyType, kind: .text), to: parent)
            nodes[Int(run)].textStart = text.count
        }
        guard nodes[Int(run)].textCount + bytes.count <= Limits.text else { throw Self.tooLong }
        guard text.count + bytes.count <= limit else { throw tooLarge }
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

    /// A hash of the record's text, for comparison with other records.
    var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(nodeCount)
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
    /// Returns the most recently begun element and everything below it as bytes for a ``SpillFile``; `textStart` is the
    /// start of its text.
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

    /// Decodes the result of ``bytes(from:textStart:)``.
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
    /// Makes indices relative to another element and another start of the text.
    fileprivate mutating func shift(by index: Int32, textStart start: Int) {
        if nextSibling >= 0 { nextSibling -= index }
        if firstChild >= 0 { firstChild -= index }
        if lastChild >= 0 { lastChild -= index }
        textStart -= start
    }
}
