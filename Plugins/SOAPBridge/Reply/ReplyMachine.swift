internal import BridgeKit
internal import RecordBatch

/// From the events of a SOAP reply to records: a state machine without I/O.
///
/// Records are written as soon as they are whole; what else a reply says (total, fault) is kept.
struct ReplyMachine {
    enum Limits {
        static let depth = 100
        static let attributes = 256
        static let records = 50_000_000
    }

    /// Where an open element stands.
    private enum Role {
        case envelope, body, skipped, walked, record, fault
    }

    private struct Frame {
        var role: Role
        var type = ReplyPlan.anyType
        var node: Int32 = -1
        /// How much of the plan's paths the elements down to this one match.
        var recordMatch: Int16 = -1
        var totalMatch: Int16 = -1
        var namespaceCount = 0
        var lastChild = -1
    }

    private let plan: ReplyPlan
    private var names: NameTable
    private var frames: [Frame] = []
    private var namespaces: [(prefix: String, namespace: String)] = []
    private var tree = RecordTree()
    private var emitter = RecordEmitter()
    private var scratch: [UInt8] = []
    private var totalText: [UInt8] = []
    private var isCapturingTotal = false
    private var hasBody = false
    private var bodyElements: [String] = []
    private var isBodyMatched = false

    /// How many records were written or rejected so far.
    private(set) var recordCount = 0
    /// Of all records so far: the same for a page that came before.
    private(set) var fingerprint: UInt64 = 0
    /// The number at the plan's total path, once it came.
    private(set) var total: Int64?
    private(set) var fault: SOAPFault?
    /// Records that are nil; the owner takes them.
    var rejected: [Page.Rejected] = []

    init(plan: ReplyPlan) {
        self.plan = plan
        names = plan.names
    }

    // MARK: Events

    mutating func startElement(_ element: XMLStartElement) throws(BridgeError) {
        guard frames.count < Limits.depth else {
            throw BridgeError(.limit, "the reply nests elements deeper than \(Limits.depth) levels")
        }
        guard element.attributeCount <= Limits.attributes else {
            throw BridgeError(
                .limit,
                "<\(element.localName)> of the reply has \(element.attributeCount) attributes; "
                    + "\(Limits.attributes) are allowed")
        }
        for index in 0..<element.namespaceCount { namespaces.append(element.declaration(index)) }
        var frame: Frame
        if let parent = frames.last {
            frame = try start(element, below: parent)
        } else {
            frame = try startEnvelope(element)
        }
        frame.namespaceCount = element.namespaceCount
        frames.append(frame)
    }

    mutating func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        guard let frame = frames.last else { return }
        if frame.role == .record || frame.role == .fault {
            let type = plan.types[Int(frame.type)]
            try tree.addText(bytes, to: frame.node, isElementOnly: type.isComplex && !type.isMixed)
        } else if isCapturingTotal, totalText.count < 64 {
            totalText.append(contentsOf: bytes.prefix(64))
        }
    }

    mutating func endElement(_ writer: RecordBatchWriter) throws(BridgeError) {
        guard let frame = frames.popLast() else { return }
        namespaces.removeLast(frame.namespaceCount)
        switch frame.role {
        case .record where frame.node == 0: try endRecord(writer)
        case .fault where frame.node == 0: try endFault()
        case .walked where isCapturingTotal:
            isCapturingTotal = false
            setTotal()
        default: break
        }
    }

    /// Checks that the reply, which is well-formed and over, was a reply to what was asked.
    func finish() throws(BridgeError) {
        guard hasBody else { throw BridgeError(.malformed, "the reply has no soap:Body") }
        guard fault == nil, !isBodyMatched else { return }
        let found = bodyElements.isEmpty ? "is empty" : "holds <\(bodyElements.joined(separator: ">, <"))>"
        throw BridgeError(
            .malformed, "the body of the reply \(found), not <\(names.name(plan.recordPath[0]))>",
            remedy: "\"records\" begins with the name of the body's element")
    }

    // MARK: Parts of an envelope

    private mutating func startEnvelope(_ element: XMLStartElement) throws(BridgeError) -> Frame {
        let namespace = element.namespace
        guard element.localName == "Envelope",
            namespace == Namespace.envelope11 || namespace == Namespace.envelope12
        else {
            throw BridgeError(
                .malformed, "the reply is not a SOAP envelope: its root element is <\(element.localName)>",
                remedy: "check the endpoint; the option \"endpoint\" overrides the address of the WSDL")
        }
        return Frame(role: .envelope)
    }

    private mutating func start(_ element: XMLStartElement, below parent: Frame) throws(BridgeError) -> Frame {
        switch parent.role {
        case .envelope:
            guard element.localName == "Body", !hasBody else { return Frame(role: .skipped) }
            hasBody = true
            return Frame(role: .body)
        case .body: return try startBodyElement(element)
        case .skipped: return Frame(role: .skipped)
        case .walked:
            return try walk(element, number: names.number(element.nameBytes), below: parent)
        case .record:
            let number = names.number(element.nameBytes)
            var type = ReplyPlan.anyType
            var isRepeated = false
            if let child = child(number, of: parent.type, after: parent.lastChild) {
                frames[frames.count - 1].lastChild = child.index
                (type, isRepeated) = (child.type, child.isRepeated)
            }
            return try startNode(element, number, type, isRepeated: isRepeated, role: .record, parent: parent.node)
        case .fault:
            return try startNode(
                element, names.number(element.nameBytes), ReplyPlan.anyType, isRepeated: false, role: .fault,
                parent: parent.node)
        }
    }

    private mutating func startBodyElement(_ element: XMLStartElement) throws(BridgeError) -> Frame {
        let number = names.number(element.nameBytes)
        if element.localName == "Fault",
            element.namespace == Namespace.envelope11 || element.namespace == Namespace.envelope12
        {
            tree.clear()
            return try startNode(element, number, ReplyPlan.anyType, isRepeated: false, role: .fault, parent: -1)
        }
        if bodyElements.count < 10 { bodyElements.append(element.localName) }
        var parent = Frame(role: .body)
        (parent.recordMatch, parent.totalMatch) = (0, 0)
        // A wrapper's namespace may differ from the WSDL's: the local name decides.
        let declared = plan.body.first { $0.name == number }
        isBodyMatched = isBodyMatched || number == plan.recordPath.first
        return try walk(element, number: number, below: parent, declared: declared)
    }

    /// An element that is not inside a record.
    private mutating func walk(
        _ element: XMLStartElement, number: Int32, below parent: Frame, declared: ReplyPlan.Child? = nil
    ) throws(BridgeError) -> Frame {
        let recordMatch = Self.advance(parent.recordMatch, number, plan.recordPath)
        let totalMatch = Self.advance(parent.totalMatch, number, plan.totalPath)
        guard recordMatch > 0 || totalMatch > 0 else { return Frame(role: .skipped) }
        var type = ReplyPlan.anyType
        if let declared {
            type = declared.type
        } else if let child = child(number, of: parent.type, after: -1) {
            type = child.type
        }
        if Int(recordMatch) == plan.recordPath.count {
            tree.clear()
            return try startNode(element, number, type, isRepeated: false, role: .record, parent: -1)
        }
        try refuseReference(element, type)
        captureTotal(element, totalMatch)
        var frame = Frame(role: .walked)
        frame.type = xsiType(element) ?? type
        (frame.recordMatch, frame.totalMatch) = (recordMatch, totalMatch)
        return frame
    }

    private static func advance(_ match: Int16, _ number: Int32, _ path: [Int32]) -> Int16 {
        guard match >= 0, Int(match) < path.count, path[Int(match)] == number else { return -1 }
        return match + 1
    }

    private func child(
        _ name: Int32, of type: ReplyPlan.TypeNumber, after last: Int
    ) -> (index: Int, type: ReplyPlan.TypeNumber, isRepeated: Bool)? {
        let count = plan.types[Int(type)].children.count
        guard count > 0 else { return nil }
        // Elements come in schema order: the next one is the likely one, or the same again.
        var index = last < 0 ? 0 : last
        for _ in 0..<count {
            let child = plan.types[Int(type)].children[index]
            if child.name == name { return (index, child.type, child.isRepeated) }
            index = index + 1 == count ? 0 : index + 1
        }
        return nil
    }

    // MARK: Records

    private mutating func startNode(
        _ element: XMLStartElement, _ number: Int32, _ declared: ReplyPlan.TypeNumber, isRepeated: Bool, role: Role,
        parent: Int32
    ) throws(BridgeError) -> Frame {
        var frame = Frame(role: role)
        frame.type = declared
        var node = RecordTree.Node(name: number, type: declared, kind: .element)
        node.isRepeated = isRepeated
        guard element.attributeCount > 0 else {
            frame.node = try tree.add(node, to: parent)
            return frame
        }
        if role == .record { try refuseReference(element, declared) }
        if let type = xsiType(element) {
            frame.type = type
            node.type = type
        }
        frame.node = try tree.add(node, to: parent)
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            try add(attribute, to: frame)
        }
        return frame
    }

    private mutating func add(_ attribute: XMLAttribute, to frame: Frame) throws(BridgeError) {
        if attribute.isIn("http://www.w3.org/2001/XMLSchema-instance") {
            if attribute.isNamed("nil") {
                let value = attribute.value
                if value == "true" || value == "1" { tree.setNil(frame.node) }
            } else if attribute.isNamed("type"), plan.types[Int(frame.type)].text == nil {
                try tree.addAttribute(plan.typeName, attribute, to: frame.node)
            }
            return
        }
        if attribute.isIn("http://schemas.xmlsoap.org/soap/envelope/")
            || attribute.isIn("http://www.w3.org/2003/05/soap-envelope")
            || attribute.isIn("http://schemas.xmlsoap.org/soap/encoding/")
            || attribute.isIn("http://www.w3.org/2003/05/soap-encoding")
        {
            return
        }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(UInt8(ascii: "@"))
        scratch.append(contentsOf: attribute.nameBytes)
        let number = scratch.withUnsafeBytes { names.number($0) }
        try tree.addAttribute(number, attribute, to: frame.node)
    }

    /// The type that an xsi:type names, where it is known.
    private func xsiType(_ element: XMLStartElement) -> ReplyPlan.TypeNumber? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("type"),
                attribute.isIn("http://www.w3.org/2001/XMLSchema-instance")
            else { continue }
            let text = attribute.value
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard let local = parts.last else { return nil }
            let prefix = parts.count == 2 ? parts[0] : ""
            let namespace = namespaces.last { $0.prefix == prefix }?.namespace ?? ""
            return plan.type(named: QName(namespace, local))
        }
        return nil
    }

    /// A reply in SOAP encoding puts values elsewhere and refers to them.
    private func refuseReference(_ element: XMLStartElement, _ type: ReplyPlan.TypeNumber) throws(BridgeError) {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            let isReference =
                attribute.isIn("http://www.w3.org/2003/05/soap-encoding")
                ? attribute.isNamed("ref")
                : !attribute.hasNamespace && attribute.isNamed("href")
                    && attribute.rawValue.first == UInt8(ascii: "#") && plan.types[Int(type)].attributes.isEmpty
            guard isReference else { continue }
            throw BridgeError(
                .unsupported,
                "<\(element.localName)> of the reply refers to a value elsewhere (\(attribute.value)): "
                    + "rpc/encoded multi-references are not read yet",
                remedy: "use a document/literal or rpc/literal port of the service, if it has one")
        }
    }

    private mutating func endRecord(_ writer: RecordBatchWriter) throws(BridgeError) {
        let index = recordCount
        recordCount += 1
        guard recordCount <= Limits.records else {
            throw BridgeError(.limit, "the reply has more than \(Limits.records) records")
        }
        fingerprint = (fingerprint ^ tree.fingerprint) &* 0x9E37_79B9_7F4A_7C15
        if tree.nodes[0].isNil {
            rejected.append(Page.Rejected(index: index, reason: "the record is xsi:nil", representation: "null"))
        } else {
            try emitter.write(&tree, plan, names, to: writer)
        }
        tree.clear()
    }

    private mutating func endFault() throws(BridgeError) {
        let writer = RecordBatchWriter()
        try emitter.write(&tree, plan, names, to: writer)
        tree.clear()
        do {
            fault = SOAPFault(try writer.finish())
        } catch {
            throw BridgeError(.malformed, "the fault of the reply can't be read: \(error)")
        }
    }

    // MARK: The total

    private mutating func captureTotal(_ element: XMLStartElement, _ match: Int16) {
        guard match > 0 else { return }
        if Int(match) == plan.totalPath.count {
            totalText.removeAll(keepingCapacity: true)
            isCapturingTotal = true
        } else if Int(match) == plan.totalPath.count - 1 {
            for index in 0..<element.attributeCount {
                guard let attribute = element.attribute(index) else { continue }
                let isTotal = names.withName(plan.totalPath[Int(match)]) {
                    $0.first == UInt8(ascii: "@") && $0.dropFirst().elementsEqual(attribute.nameBytes)
                }
                guard isTotal else { continue }
                totalText.removeAll(keepingCapacity: true)
                attribute.appendValue(to: &totalText)
                setTotal()
            }
        }
    }

    private mutating func setTotal() {
        let text = totalText.withUnsafeBytes { String(decoding: LexicalValue.trimmed($0), as: UTF8.self) }
        if let number = Int64(text), number >= 0 { total = number }
    }
}
