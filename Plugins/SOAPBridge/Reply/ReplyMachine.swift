internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// Converts the events of a SOAP reply to records: a state machine without I/O.
///
/// Each record is written once it is complete; records that refer to other parts of the reply wait for its end. The
/// machine also keeps the reply's total, token and fault.
///
/// Not copyable, because it is large. The methods that the events of most replies call are mutating, or are the plan's:
/// to call another one, Swift passes a copy of the structure's bytes, which costs more than the event.
struct ReplyMachine: ~Copyable {
    enum Limits {
        static let depth = 100
        static let attributes = 256
        /// The maximum of namespaces declared by an element and its ancestors.
        static let namespaces = 1_000
        static let records = 50_000_000
    }

    /// The role of an open element.
    enum Role {
        case envelope, body, skipped, scanned, record, fault
        /// An independent element beside the reply's own, which others refer to.
        case target
    }

    struct Frame {
        var role: Role
        var type = ReplyPlan.anyType
        var node: Int32 = -1
        /// How much of the plan's paths the elements down to this one match.
        var recordMatch: Int16 = -1
        var captureMatches = SIMD8<Int16>(repeating: -1)
        var namespaceCount = 0
        var lastChild = -1
        /// Whether the element is a SOAP-ENC array, whose children are its members regardless of their names.
        var isArray = false
        /// The type of the members if the reply declares it; otherwise -1.
        var memberType: ReplyPlan.TypeNumber = -1
        /// The hash of the id by which others refer to the element; 0 for none.
        var id: UInt64 = 0
        var textStart = 0
        /// Whether the element stands beside the path to the records.
        var isBeside = false
        /// Whether neither the schema nor a path of the plan contains the element.
        var isUnexpected = false
        /// Whether the element may occur several times, or one around it.
        var isRepeated = false
        /// Whether the element is one of the list that is not a record, or inside one.
        var isOther = false
        /// Whether the element is in the body, off the path to the records.
        var isOutside = false
        /// Whether the element is in the part of the message that has the records: WCF numbers the objects of each.
        var isPart = false
        /// Whether the element is in a list other than that of the records, or inside one.
        var isData = false
        /// Whether an element of the path follows inside.
        var hasNext = false
        /// Whether the element says that it failed.
        var hasFailed = false
        /// Of a SOAP-ENC array: the number of its members so far, with the places that are left out.
        var memberCount: Int32 = 0
        /// Of a list of records: the name of the first one; negative without one.
        var recordName: Int32 = -1
        /// Whether the element is the first in its list of a name that the schema lacks, and so may be no record.
        var isRenamed = false
        /// Of an element in the list that is neither a record nor in the schema: the name of the records.
        var strayRecord: Int32 = -1
        /// Whether attributes and text are searched for notices, with the signs of the element's name.
        var isNoted = false
        var signs: ReplyNameSigns = []
        var name: Int32 = -1
    }

    let plan: ReplyPlan
    var names: NameTable
    var frames: [Frame] = []
    var namespaces: [(prefix: String, namespace: String)] = []
    var tree = RecordTree()
    var emitter: RecordEmitter
    let deferred: DeferredValues
    var scratch: [UInt8] = []
    private static let nameCount = 256
    private var knownNames = [(address: UInt, number: Int32)](repeating: (0, 0), count: nameCount)
    let includeName: Int32
    let referenceNames: (id: Int32, href: Int32)
    /// Whether the reply is in SOAP encoding, where `id` and `href` are not data.
    var isEncoded: Bool
    /// Whether records keep everything needed to send them back: see ``RecordEmitter/isExact``.
    let isExact: Bool
    /// Whether the current object outside the list is in another part of the message than the records.
    var isInOtherPart = false
    /// Forward references by id: the declared type of the target, and the position of a path that leads through it.
    var awaited: [UInt64: Awaited] = [:]

    struct Awaited {
        var type = ReplyPlan.anyType
        var scanned: Frame?
    }

    /// The open member of a record whose value is a text, and which has no frame.
    var openValue = OpenValue.none
    /// What the next record of the open list has in common with the last one; nil if none without attributes has come.
    var usualRecord: UsualRecord?

    private var hasBody = false
    private var bodyElements: [String] = []
    private var isBodyMatched = false
    /// The name of the body's element if it is xsi:nil and the records would be inside.
    var nilElement: Int32?

    // Values at the plan's captures.
    var capturing: Int?
    var captureText: [UInt8] = []
    var captured = [String?](repeating: nil, count: ReplyPlan.Capture.allCases.count)

    /// The sum of the totals of the reply's parts.
    var totals: Int64?

    /// The longest prefix of the records' path found so far, in names.
    private(set) var recordPathMatch = 0
    /// The gravest notice so far, the first that says that the reply or a part failed, and the one of a part that failed
    /// without records.
    var notice: ReplyNotice?
    var failure: ReplyNotice?
    var failedPart: ReplyNotice?
    /// A flag or a state that says that more records follow.
    var promise: ReplyNotice?
    /// The position of a next page.
    var nextPosition: ReplyNotice?
    /// Whether a flag says that no more records follow.
    var deniesMore = false
    /// Whether content beside the path says that the call succeeded.
    var noticesSuccess = false
    /// Whether the reply is that to a change: then all that it says outside the object counts.
    var judgesBody = false
    /// What says that the change was not carried out, what else says that something failed, and the first message.
    var refusal: ReplyNotice?
    var doubt: ReplyNotice?
    var message: String?
    var noticeText: [UInt8] = []
    /// How many more elements are searched for notices.
    var noticeBudget = 10_000
    /// The first name on the path to the records that neither the schema nor a path of the plan contains, of an element
    /// with others inside or with a notice; a plain value is not a list.
    var unexpectedElement: Int32?
    /// The first element in the list that is neither a record nor in the schema but may be one, and the records' name.
    var stray: (name: Int32, record: Int32)?
    /// The number of records written, rejected or deferred so far.
    var recordCount = 0
    /// Whether the only record so far is xsi:nil: Axis2 writes an empty list so.
    var hasOnlyNil = false
    /// The number of elements in the list that are not records, because `records` names others.
    var otherCount = 0
    /// A hash of all records so far, and of the other elements of their list, which reveals a repeated page.
    var fingerprint: UInt64 = 0
    var fault: SOAPFault?
    /// Records that can't be represented, until the owner takes them.
    var rejected: [Page.Rejected] = []

    init(plan: ReplyPlan, recordBytes: Int, isExact: Bool = false) {
        self.plan = plan
        self.isExact = isExact
        tree.limit = recordBytes
        names = plan.names
        includeName = names.number("Include")
        referenceNames = (names.number("@id"), names.number("@href"))
        isEncoded = plan.isEncoded
        deferred = DeferredValues(recordBytes: recordBytes)
        emitter = RecordEmitter(deferred: deferred, isExact: isExact)
    }

    // MARK: Events

    mutating func startElement(_ element: XMLStartElement) throws(BridgeError) {
        if try startUsual(element) { return }
        guard frames.count < Limits.depth else {
            throw BridgeError(.limit, "the reply nests elements deeper than \(Limits.depth) levels")
        }
        guard element.attributeCount <= Limits.attributes else {
            throw BridgeError(
                .limit,
                "<\(element.localName)> of the reply has \(element.attributeCount) attributes; "
                    + "\(Limits.attributes) are allowed")
        }
        guard namespaces.count + element.namespaceCount <= Limits.namespaces else {
            throw BridgeError(
                .limit,
                "<\(element.localName)> of the reply has more than \(Limits.namespaces) namespaces declared in its scope"
            )
        }
        for index in 0..<element.namespaceCount { namespaces.append(element.declaration(index)) }
        var frame: Frame
        if let parent = frames.last {
            frame = try start(element, below: parent)
            if frame.role == .record, parent.role == .scanned { noteUsualRecord(element, frame, below: parent) }
        } else {
            frame = try startEnvelope(element)
        }
        frame.namespaceCount = element.namespaceCount
        frames.append(frame)
    }

    /// Returns the number of an element's name.
    ///
    /// libxml2 keeps one copy of each name, so its address usually suffices.
    mutating func number(of element: XMLStartElement) -> Int32 {
        let address = UInt(bitPattern: element.name)
        let place = Int(truncatingIfNeeded: (address ^ address >> 8) & UInt(Self.nameCount - 1))
        if knownNames[place].address == address { return knownNames[place].number }
        let number = names.number(element.nameBytes)
        knownNames[place] = (address, number)
        return number
    }

    mutating func characters(_ bytes: UnsafeRawBufferPointer) throws(BridgeError) {
        switch openValue {
        case .none: break
        case .member: return try tree.addMemberText(bytes)
        case .node(let node): return try tree.addText(bytes, to: node, isElementOnly: false)
        }
        guard let frame = frames.last else { return }
        switch frame.role {
        case .record, .fault, .target:
            let type = plan.types[Int(frame.type)]
            do {
                try tree.addText(bytes, to: frame.node, isElementOnly: type.isComplex && !type.isMixed)
            } catch {
                try abandonObject(error)
            }
            if frame.isNoted { addNotice(bytes) }
        default:
            if capturing != nil { capture(bytes) }
            if frame.isNoted { addNotice(bytes) }
            if frame.isOther { mix(bytes) }
        }
    }

    /// Ends an element for which ``endMember()`` returned false.
    mutating func endElement(_ writer: RecordBatchWriter) throws(BridgeError) {
        guard let frame = frames.popLast() else { return }
        namespaces.removeLast(frame.namespaceCount)
        if frame.role == .scanned { usualRecord = nil }
        if frame.id != 0 { try keep(frame) }
        if frame.isNoted { endNotice(of: frame) }
        if frame.recordMatch > 0 { endPath(frame) }
        switch frame.role {
        case .record where frame.node == 0:
            if frame.isRenamed, !endRenamed() { break }
            try endRecord(writer)
        case .fault where frame.node == 0: try endFault()
        case .target where frame.node == 0: tree.clear()
        case .scanned: if capturing != nil { endCapture(frame.type) }
        default: break
        }
    }

    /// Validates that a complete, well-formed reply answers the request.
    mutating func finish() throws(BridgeError) {
        guard hasBody else { throw BridgeError(.malformed, "the reply has no soap:Body") }
        if hasOnlyNil { recordCount = 0 }
        guard fault == nil, !isBodyMatched, let first = plan.recordPath.first else { return }
        let found = bodyElements.isEmpty ? "is empty" : "holds <\(bodyElements.joined(separator: ">, <"))>"
        throw BridgeError(
            .malformed, "the body of the reply \(found), not <\(names.name(first))>",
            remedy: "\"records\" begins with the name of the body's element")
    }

    // MARK: Parts of an envelope

    private mutating func startEnvelope(_ element: XMLStartElement) throws(BridgeError) -> Frame {
        let namespace = element.namespace
        guard element.localName == "Envelope",
            namespace == Namespace.envelope11 || namespace == Namespace.envelope12
        else {
            throw BridgeError(
                .malformed,
                "the reply is not a SOAP envelope: its root element is <\(element.localName)>"
                    + (element.localName == "Envelope" ? " of the namespace \"\(namespace)\"" : ""),
                remedy: "check the endpoint; the option \"endpoint\" overrides the address of the WSDL")
        }
        noteEncoding(element)
        return Frame(role: .envelope)
    }

    /// Detects `encodingStyle`, which any element may have (SOAP 1.1, section 4.1.1).
    private mutating func noteEncoding(_ element: XMLStartElement) {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("encodingStyle"),
                attribute.isOfEnvelope
            else { continue }
            if attribute.value.contains("encoding") { isEncoded = true }
        }
    }

    private mutating func start(_ element: XMLStartElement, below parent: Frame) throws(BridgeError) -> Frame {
        switch parent.role {
        case .envelope:
            guard element.localName == "Body" else { return Frame(role: .skipped) }
            guard !hasBody else {
                throw BridgeError(
                    .malformed, "the reply has two soap:Body elements",
                    remedy: "check the service, or what is in front of it")
            }
            hasBody = true
            noteEncoding(element)
            return Frame(role: .body)
        case .body: return try startBodyElement(element)
        case .skipped:
            var frame = Frame(role: .skipped)
            frame.isBeside = parent.isBeside
            frame.isRepeated = parent.isRepeated
            frame.isPart = parent.isPart
            if parent.isOther { beginOther(element, &frame) }
            noteUnexpected(parent)
            if let object = try startOutside(element, &frame, below: parent) { return object }
            if frame.isBeside { beginNotice(element, &frame, below: parent, onPath: false) }
            return frame
        case .scanned:
            return try scan(element, number: number(of: element), below: parent)
        case .record, .target:
            var number = number(of: element)
            if number == includeName, element.namespace == Namespace.xop { return try include(element, in: parent) }
            var type = ReplyPlan.anyType
            var isRepeated = false
            var isAbroad = false
            if parent.memberType >= 0 {
                type = parent.memberType
                try fillArray(before: element, in: parent)
            } else if let child = plan.child(number, of: parent.type, after: parent.lastChild), !child.isNamesake {
                frames[frames.count - 1].lastChild = child.index
                (type, isRepeated) = (child.type, child.isRepeated)
            } else if plan.types[Int(parent.type)].repeatsNames,
                let child = plan.namesake(number, element.namespace, of: parent.type, isExact: isExact)
            {
                frames[frames.count - 1].lastChild = child.index
                (type, isRepeated) = (child.type, child.isRepeated)
                isAbroad = number != child.member
                number = child.member
            } else if isExact {
                if parent.type != ReplyPlan.anyType, plan.types[Int(parent.type)].isOpen {
                    type = plan.globalType(element)
                }
                number = names.number("{\(element.namespace)}\(element.localName)")
            } else if parent.type != ReplyPlan.anyType {
                if plan.types[Int(parent.type)].isOpen {
                    type = plan.globalType(element)
                } else {
                    emitter.note(.undescribed, number)
                }
            }
            let frame: Frame
            if parent.role == .target {
                frame = try startInside(element, number, type, isRepeated: isRepeated, below: parent)
            } else {
                frame = try startNode(element, number, type, isRepeated: isRepeated, role: .record, parent: parent.node)
            }
            if isAbroad, frame.node >= 0 { tree.setObstacle(frame.node, .namesake) }
            return frame
        case .fault:
            return try startNode(
                element, names.number(element.nameBytes), plan.globalType(element), isRepeated: false, role: .fault,
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
        noteEncoding(element)
        if isBodyMatched || !bodyElements.isEmpty, let id = identifier(element) {
            return try startTarget(element, number, id)
        }
        if bodyElements.count < 10 { bodyElements.append(element.localName) }
        var parent = Frame(role: .body)
        parent.recordMatch = 0
        parent.captureMatches = SIMD8(repeating: 0)
        // A wrapper's namespace may differ from the WSDL's: match by local name.
        let index = plan.body.firstIndex { $0.name == number }
        if let index, plan.bodyNamespaces[index] != element.namespace, !plan.bodyNamespaces[index].isEmpty {
            emitter.note(.namespace, number)
        }
        isBodyMatched = isBodyMatched || number == plan.recordPath.first || plan.recordPath.first == plan.wildcard
        return try scan(element, number: number, below: parent, declared: index.map { plan.body[$0] })
    }

    /// Starts an independent element (SOAP 1.1, section 5.1, rule 5), usually one already referred to.
    private mutating func startTarget(
        _ element: XMLStartElement, _ number: Int32, _ id: UInt64
    ) throws(BridgeError) -> Frame {
        let awaited = awaited.removeValue(forKey: id) ?? Awaited()
        if let scanned = awaited.scanned {
            return try enter(element, type: scanned.type, matches: scanned)
        }
        tree.clear()
        var frame = try startNode(element, number, awaited.type, isRepeated: false, role: .target, parent: -1)
        frame.id = id
        return frame
    }

    // MARK: Path to the records

    /// Starts an element outside the records.
    private mutating func scan(
        _ element: XMLStartElement, number: Int32, below parent: Frame, declared: ReplyPlan.Child? = nil
    ) throws(BridgeError) -> Frame {
        var frame = Frame(role: .scanned)
        var isRenamed = false
        frame.recordMatch = plan.advance(parent.recordMatch, number, plan.recordPath, isMember: parent.isArray)
        frame.isPart = parent.isPart || frame.recordMatch >= 2 || plan.recordPath.count < 3
        for index in plan.captures.indices where parent.captureMatches[index] >= 0 {
            frame.captureMatches[index] = plan.advance(
                parent.captureMatches[index], number, plan.captures[index], isMember: parent.isArray)
        }
        if frame.recordMatch < 0, parent.recordMatch > 0, Int(parent.recordMatch) < plan.recordPath.count,
            parent.type != ReplyPlan.anyType, plan.child(number, of: parent.type, after: -1) == nil
        {
            let isInList = Int(parent.recordMatch) == plan.recordPath.count - 1 && plan.isOnlyList(parent.type)
            if isInList, parent.recordName < 0 || parent.recordName == number {
                // Axis names the members of a literal array after the array, regardless of the schema.
                isRenamed = parent.recordName < 0
                if !isRenamed { emitter.note(.renamed, number) }
                frame.recordMatch = parent.recordMatch + 1
            } else if !plan.types[Int(parent.type)].isOpen, frame.captureMatches.max() <= 0 {
                frame.isUnexpected = true
                if isInList { beginStray(element, number, &frame, below: parent) }
            }
        }
        if parent.recordName < 0, Int(frame.recordMatch) == plan.recordPath.count, let last = frames.indices.last {
            frames[last].recordName = number
        }
        recordPathMatch = max(recordPathMatch, Int(frame.recordMatch))
        noteScanned(element, number, &frame, below: parent)
        guard frame.recordMatch > 0 || frame.captureMatches.max() > 0 else {
            frame.role = .skipped
            return try startOutside(element, &frame, below: parent) ?? frame
        }
        noteShared(element, frame)
        var type = ReplyPlan.anyType
        if parent.memberType >= 0 {
            type = parent.memberType
        } else if let declared {
            type = declared.type
        } else if let child = plan.child(number, of: parent.type, after: -1) {
            type = child.type
        } else if Int(frame.recordMatch) == plan.recordPath.count, plan.isOnlyList(parent.type) {
            type = plan.child(0, of: plan.types[Int(parent.type)]).type
        } else {
            type = plan.globalType(element)
        }
        var entered = try enter(element, type: type, matches: frame)
        entered.isRenamed = isRenamed
        return entered
    }

    /// Starts an element on a path: a record, or an ancestor of one.
    ///
    /// `matches` says how much of each path is matched.
    private mutating func enter(
        _ element: XMLStartElement, type: ReplyPlan.TypeNumber, matches: Frame
    ) throws(BridgeError) -> Frame {
        var frame = matches
        frame.role = .scanned
        frame.namespaceCount = 0
        frame.type = xsiType(element, declared: type) ?? type
        frame.isArray = plan.types[Int(frame.type)].isArray
        if frame.isArray, plan.types[Int(frame.type)].childCount > 0 {
            frame.memberType = plan.child(0, of: plan.types[Int(frame.type)]).type
        }
        if let member = arrayMemberType(element) {
            frame.isArray = true
            if member != ReplyPlan.anyType || frame.memberType < 0 { frame.memberType = member }
        }
        let count = Int(frame.recordMatch)
        if count == 1, plan.recordPath.count > 1, nilElement == nil, Self.isNil(element) {
            nilElement = number(of: element)
        }
        // A path may end at the array that holds the records.
        if count > 0, count == plan.recordPath.count, !frame.isArray {
            tree.clear()
            return try startNode(
                element, names.number(element.nameBytes), type, isRepeated: false, role: .record, parent: -1)
        }
        if let id = reference(element, type) {
            try awaitList(element, id, type, matches)
        }
        beginCaptures(element, frame)
        return frame
    }
}
