internal import BridgeKit
internal import BridgeXML
internal import RecordBatch

/// Elements that become values: records, faults and the targets of references.
extension ReplyMachine {
    mutating func startNode(
        _ element: XMLStartElement, _ number: Int32, _ declared: ReplyPlan.TypeNumber, isRepeated: Bool, role: Role,
        parent: Int32
    ) throws(BridgeError) -> Frame {
        var frame = Frame(role: role)
        frame.type = declared
        frame.textStart = tree.text.count
        var node = RecordTree.Node(name: number, type: declared, kind: .element)
        node.isRepeated = isRepeated
        guard element.attributeCount > 0 else {
            if plan.types[Int(declared)].isArray { setArray(&frame, &node) }
            frame.node = try tree.add(node, to: parent)
            return frame
        }
        if let type = xsiType(element, declared: declared) {
            frame.type = type
            node.type = type
        }
        let member = arrayMemberType(element)
        if member != nil || plan.types[Int(frame.type)].isArray { setArray(&frame, &node) }
        if let member, member != ReplyPlan.anyType { frame.memberType = member }
        frame.node = try tree.add(node, to: parent)
        if frame.isArray { try fillArray(at: element, &frame) }
        if role != .fault, let (id, bytes) = referenceBytes(element, declared) {
            try tree.addReference(bytes.value, kind: bytes.kind, to: frame.node)
            if bytes.kind == .reference, !emitter.sharesObjects, frame.type != ReplyPlan.anyType, awaited[id] == nil,
                !deferred.has(id)
            {
                awaited[id] = Awaited(type: frame.type)
            }
        }
        if role == .record || role == .target {
            if isEncoded, let id = identifier(element) {
                if role == .record { frame.id = id }
            } else if parent >= 0 || role == .record, let id = sharedIdentifier(element) {
                frame.id = id
                tree.setIdentity(frame.node, id)
            }
        }
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            try add(attribute, index, of: element, to: frame)
        }
        return frame
    }

    private func setArray(_ frame: inout Frame, _ node: inout RecordTree.Node) {
        frame.isArray = true
        node.isArray = true
        let type = plan.types[Int(frame.type)]
        frame.memberType = type.childCount > 0 ? plan.child(0, of: type).type : ReplyPlan.anyType
    }

    private mutating func add(
        _ attribute: XMLAttribute, _ index: Int, of element: XMLStartElement, to frame: Frame
    ) throws(BridgeError) {
        if attribute.isOfInstance {
            if attribute.isNamed("nil") || attribute.isNamed("null") {
                let value = attribute.value
                if value == "true" || value == "1" { tree.setNil(frame.node) }
            } else if attribute.isNamed("type"), !frame.isArray, isExact || plan.types[Int(frame.type)].text == nil {
                // Its prefix has a meaning in the reply only.
                try tree.addAttribute(plan.typeName, value: typeName(attribute.value), to: frame.node)
            }
            return
        }
        let keepsAll = isExact
        guard attribute.isData(isExact: keepsAll) else { return }
        let needsPrefix = element.needsPrefix(index) { $0.isData(isExact: keepsAll) }
        let number = memberName(of: attribute, withPrefix: needsPrefix)
        let isReference =
            number == referenceNames.href && (isEncoded || attribute.rawValue.starts(with: "cid:".utf8))
        if isReference || isEncoded && number == referenceNames.id, !attribute.hasNamespace,
            !plan.declares(number, frame.type)
        {
            return
        }
        let isForeign = isExact && attribute.hasNamespace && (needsPrefix || !plan.declares(number, frame.type))
        try tree.addAttribute(
            isForeign ? names.number("@\(attribute.expandedName)") : number, attribute, to: frame.node)
    }

    /// Returns the number of the name that an attribute has in a record.
    mutating func memberName(of attribute: XMLAttribute, withPrefix needsPrefix: Bool) -> Int32 {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(UInt8(ascii: "@"))
        if needsPrefix {
            scratch.append(contentsOf: attribute.prefixBytes)
            scratch.append(UInt8(ascii: ":"))
        }
        scratch.append(contentsOf: attribute.nameBytes)
        return scratch.withUnsafeBytes { names.number($0) }
    }

    /// Returns the type that an xsi:type names as `{namespace}name`; returns the text unchanged if its prefix is
    /// undeclared.
    private func typeName(_ text: String) -> String {
        let name = qualifiedName(text)
        return name.namespace.isEmpty ? text.trimmingWhiteSpace : name.description
    }

    // MARK: Types

    /// Returns the type that an xsi:type names; nil if it is missing or unknown.
    mutating func xsiType(_ element: XMLStartElement, declared: ReplyPlan.TypeNumber) -> ReplyPlan.TypeNumber? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("type"), attribute.isOfInstance else {
                continue
            }
            guard let type = plan.type(named: qualifiedName(attribute.value)) else {
                if declared != ReplyPlan.anyType { emitter.note(.unknownType, names.number(element.nameBytes)) }
                return nil
            }
            // "Array" and "anyType" are less specific than the schema.
            if type == ReplyPlan.anyType || (type == plan.arrayType && plan.types[Int(declared)].isArray) {
                return nil
            }
            let kind = plan.types[Int(type)].isArray && plan.types[Int(type)].childCount == 0
            return kind && plan.types[Int(declared)].isArray ? nil : type
        }
        return nil
    }

    private func qualifiedName(_ text: String) -> QName {
        let parts = text.trimmingWhiteSpace.split(separator: ":", maxSplits: 1).map(String.init)
        let prefix = parts.count == 2 ? parts[0] : ""
        return QName(namespaces.last { $0.prefix == prefix }?.namespace ?? "", parts.last ?? "")
    }

    /// Returns the member type of an element declared as a SOAP-ENC array; nil for other elements.
    func arrayMemberType(_ element: XMLStartElement) -> ReplyPlan.TypeNumber? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isOfEncoding else { continue }
            if attribute.isNamed("arrayType") {
                // `xs:string[2]`, or `xs:string[][2]` for an array of arrays.
                let parts = attribute.value.split(separator: "[")
                guard parts.count == 2, let name = parts.first else { return ReplyPlan.anyType }
                return plan.type(named: qualifiedName(String(name))) ?? ReplyPlan.anyType
            }
            // SOAP 1.2, part 2, section 3.1.4.
            if attribute.isNamed("itemType") {
                return plan.type(named: qualifiedName(attribute.value)) ?? ReplyPlan.anyType
            }
            if attribute.isNamed("arraySize") { return ReplyPlan.anyType }
        }
        return nil
    }

    // MARK: Sparse arrays

    /// Fills the places in front of the first member of a SOAP-ENC array, which may begin later (SOAP 1.1, section
    /// 5.4.2.1).
    private mutating func fillArray(at element: XMLStartElement, _ frame: inout Frame) throws(BridgeError) {
        guard let place = Self.arrayPlace(element, "offset"), place > 0 else { return }
        tree.setObstacle(frame.node, .sparseArray)
        frame.memberCount = try fill(frame, to: place)
    }

    /// Fills the places that a SOAP-ENC array leaves out before a member (SOAP 1.1, section 5.4.2.3), and counts it.
    mutating func fillArray(before element: XMLStartElement, in array: Frame) throws(BridgeError) {
        guard let last = frames.indices.last else { return }
        if let place = Self.arrayPlace(element, "position"), place != array.memberCount {
            tree.setObstacle(array.node, .sparseArray)
            frames[last].memberCount = try fill(array, to: place)
        }
        frames[last].memberCount += 1
    }

    /// Adds nulls to an array until it has this number of members; returns how many it has.
    private mutating func fill(_ array: Frame, to place: Int32) throws(BridgeError) -> Int32 {
        var count = array.memberCount
        while count < place {
            var member = RecordTree.Node(name: tree.nodes[Int(array.node)].name, type: array.memberType, kind: .element)
            member.isNil = true
            _ = try tree.add(member, to: array.node)
            count += 1
        }
        return count
    }

    /// Returns the place that an attribute of SOAP encoding gives as `[2]`, counted from 0; nil for one of several
    /// dimensions.
    private static func arrayPlace(_ element: XMLStartElement, _ name: StaticString) -> Int32? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isOfEncoding, attribute.isNamed(name) else {
                continue
            }
            let text = attribute.value.trimmingWhiteSpace
            guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
            return Int32(text.dropFirst().dropLast())
        }
        return nil
    }

    // MARK: References

    /// Returns whether an element is xsi:nil.
    static func isNil(_ element: XMLStartElement) -> Bool {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isOfInstance,
                attribute.isNamed("nil") || attribute.isNamed("null")
            else { continue }
            return ["true", "1"].contains(attribute.value)
        }
        return false
    }

    /// Returns the hash of an element's id in SOAP encoding; nil if it has none.
    func identifier(_ element: XMLStartElement) -> UInt64? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("id") else { continue }
            guard !attribute.hasNamespace || attribute.isOfEncoding else { continue }
            return DeferredValues.hash(attribute.rawValue)
        }
        return nil
    }

    /// Returns the hash of the id to which an element refers; nil if it is not a reference.
    mutating func reference(_ element: XMLStartElement, _ type: ReplyPlan.TypeNumber) -> UInt64? {
        guard let (id, bytes) = referenceBytes(element, type), bytes.kind == .reference else { return nil }
        return id
    }

    /// Waits for the element to which one on a path refers.
    mutating func awaitList(
        _ element: XMLStartElement, _ id: UInt64, _ type: ReplyPlan.TypeNumber, _ matches: Frame
    ) throws(BridgeError) {
        let isShared = emitter.sharesObjects
        if isShared, matches.recordMatch < 1 { return }
        guard !isShared, !deferred.has(id) else {
            throw BridgeError(
                .unsupported,
                "<\(element.localName)> of the reply, on the way to the records, refers to an element before it")
        }
        var scanned = matches
        scanned.type = type
        awaited[id] = Awaited(type: type, scanned: scanned)
    }

    private mutating func referenceBytes(
        _ element: XMLStartElement, _ type: ReplyPlan.TypeNumber
    ) -> (id: UInt64, bytes: (value: [UInt8], kind: RecordTree.Kind))? {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index) else { continue }
            if !isExact, attribute.isOfSerialization, attribute.isNamed("Ref") {
                emitter.sharesObjects = true
                let id = Array(attribute.rawValue)
                return (DeferredValues.hash(id), (id, .reference))
            }
            if attribute.isOfEncoding {
                // SOAP 1.2, part 2, section 3.1.5: an IDREF without `#`; PHP writes one nevertheless.
                guard attribute.isNamed("ref") else { continue }
                let id = attribute.rawValue.drop { $0 == UInt8(ascii: "#") }
                return (DeferredValues.hash(id), (Array(id), .reference))
            }
            guard !attribute.hasNamespace, attribute.isNamed("href"), !plan.declares(referenceNames.href, type) else {
                continue
            }
            let value = attribute.rawValue
            if value.first == UInt8(ascii: "#"), isEncoded || plan.types[Int(type)].attributeCount == 0 {
                isEncoded = true
                let id = value.dropFirst()
                return (DeferredValues.hash(id), (Array(id), .reference))
            }
            // SOAP with Attachments: a part of the message.
            if value.starts(with: "cid:".utf8) { return (0, (Array(attribute.value.utf8), .attachment)) }
        }
        return nil
    }

    /// Handles an xop:Include, which stands for the bytes of its parent (XOP, section 2.1).
    mutating func include(_ element: XMLStartElement, in parent: Frame) throws(BridgeError) -> Frame {
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), attribute.isNamed("href") else { continue }
            try tree.addReference(Array(attribute.value.utf8), kind: .attachment, to: parent.node)
        }
        return Frame(role: .skipped)
    }

    /// Stores an element to which others may refer.
    mutating func keep(_ frame: Frame) throws(BridgeError) {
        guard frame.node >= 0, !tree.isEmpty else { return }
        if tree.nodes[Int(frame.node)].identity != 0 {
            return try deferred.share(
                tree.bytes(from: frame.node, textStart: frame.textStart), id: frame.id,
                isInOtherPart: frame.role == .target && isInOtherPart)
        }
        if frame.role == .target { fingerprint = (fingerprint ^ tree.fingerprint) &* 0x9E37_79B9_7F4A_7C15 }
        try deferred.keep(tree.bytes(from: frame.node, textStart: frame.textStart), id: frame.id)
    }

    // MARK: Records

    mutating func endRecord(_ writer: RecordBatchWriter) throws(BridgeError) {
        let index = recordCount
        recordCount += 1
        if hasOnlyNil {
            hasOnlyNil = false
            reject(nilRecord: 0)
        }
        guard recordCount <= Limits.records else {
            throw BridgeError(.limit, "the reply has more than \(Limits.records) records")
        }
        fingerprint = (fingerprint ^ tree.fingerprint) &* 0x9E37_79B9_7F4A_7C15
        defer { tree.clear() }
        if tree.isDeferred {
            try deferred.wait(tree.bytes(from: 0, textStart: 0))
        } else {
            if tree.nodes[0].isNil {
                if index == 0 { hasOnlyNil = true } else { reject(nilRecord: index) }
                return
            }
            if var rejection = try emitter.write(&tree, plan, names, to: writer) {
                rejection.index = index
                rejected.append(rejection)
            }
        }
    }

    private mutating func reject(nilRecord index: Int?) {
        rejected.append(Page.Rejected(index: index, reason: "the record is xsi:nil", representation: "null"))
    }

    /// Writes the next pending record; returns false if there is none.
    mutating func writePending(_ writer: RecordBatchWriter) throws(BridgeError) -> Bool {
        guard var waiting = try deferred.nextRecord() else { return false }
        if waiting.nodes.isEmpty { return true }
        let id = waiting.reference(of: waiting.nodes[0]).map { waiting.bytes(of: $0) } ?? []
        if let reason = try emitter.resolve(&waiting) {
            let name = String(decoding: id, as: UTF8.self)
            rejected.append(
                Page.Rejected(
                    index: nil, reason: "the record refers to \"\(name)\", \(reason)",
                    representation: "{\"href\":\"#\(name.filter { $0 != "\"" && $0 != "\\" })\"}"))
            return true
        }
        if waiting.nodes[0].isNil {
            reject(nilRecord: nil)
        } else {
            if let rejection = try emitter.write(&waiting, plan, names, to: writer) { rejected.append(rejection) }
        }
        return true
    }

    mutating func endFault() throws(BridgeError) {
        let writer = RecordBatchWriter()
        // A fault is never refused for a value in its detail.
        emitter.mayMissParts = true
        defer { emitter.mayMissParts = false }
        _ = try emitter.write(&tree, plan, names, to: writer)
        tree.clear()
        do {
            fault = SOAPFault(try writer.finish())
        } catch {
            throw BridgeError(.malformed, "the fault of the reply can't be read: \(error)")
        }
    }
}

extension XMLAttribute {
    /// Returns whether the attribute is data of its element: those of SOAP and of schema instances are not.
    func isData(isExact: Bool) -> Bool {
        if isOfInstance || isOfEnvelope || isOfEncoding { return false }
        return isExact || !isOfSerialization
    }
}
