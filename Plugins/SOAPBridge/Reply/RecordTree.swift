internal import BridgeKit
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
        var nextSibling: Int32 = -1
        var firstChild: Int32 = -1
        var lastChild: Int32 = -1
        var nextOfName: Int32 = -1
        var textStart = 0
        var textCount = 0
    }

    enum Kind: UInt8 {
        case element, attribute, text
    }

    private(set) var nodes: [Node] = []
    private(set) var text: [UInt8] = []

    var isEmpty: Bool { nodes.isEmpty }

    /// Forgets the record and keeps the memory, unless it was an unusually large one.
    mutating func clear() {
        nodes.removeAll(keepingCapacity: nodes.capacity < 65_536)
        text.removeAll(keepingCapacity: text.capacity < 1 << 20)
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
