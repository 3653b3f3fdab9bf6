internal import BridgeXML

/// Content outside the records that may be the reason why records are missing.
extension ReplyMachine {
    private static let longest = 1000

    /// Begins to read an element outside the records, where it may hold a notice.
    mutating func noteScanned(_ element: XMLStartElement, _ number: Int32, _ frame: inout Frame, below parent: Frame) {
        let isPath = frame.recordMatch > 0
        frame.isBeside =
            frame.recordMatch < 0 && (parent.isBeside || parent.recordMatch > 0 || judgesBody && parent.role == .body)
        frame.isRepeated =
            parent.isRepeated || parent.isArray
            || isPath && plan.child(number, of: parent.type, after: -1)?.isRepeated == true
        if isPath, let last = frames.indices.last { frames[last].hasNext = true }
        frame.name = number
        if !isPath, isMixed(number, with: plan.recordPath.last, below: parent) {
            otherCount += 1
            beginOther(element, &frame)
        }
        guard frame.isBeside || isPath && Int(frame.recordMatch) < plan.recordPath.count else { return }
        beginNotice(element, &frame, below: parent, onPath: isPath)
    }

    /// Begins to read an element on the path to the records or beside it.
    ///
    /// - Parameter path: Whether the element is on the path: its name says what the records are, not what failed.
    mutating func beginNotice(
        _ element: XMLStartElement, _ frame: inout Frame, below parent: Frame, onPath path: Bool
    ) {
        endNotice(of: parent)
        guard noticeBudget > 0 else {
            if notice == nil {
                notice = ReplyNotice(weight: .remark, name: element.localName, text: "in more content than is searched")
            }
            return
        }
        noticeBudget -= 1
        frame.isNoted = true
        frame.name = names.number(element.nameBytes)
        if path {
            frame.signs = .message
        } else {
            frame.signs = .inside(parent.isBeside ? parent.signs : [], element.localName)
        }
        for index in 0..<element.attributeCount {
            guard let attribute = element.attribute(index), !attribute.hasNamespace,
                attribute.rawValue.count <= Self.longest
            else { continue }
            let name = attribute.localName
            let signs = ReplyNameSigns.inside(path ? [] : frame.signs, name)
            let found = take(attribute.value, signs, name: "@\(name)", isRepeated: frame.isRepeated)
            guard let found else { continue }
            if frame.isUnexpected, unexpectedElement == nil { unexpectedElement = frame.name }
            guard found.weight == .failure, signs.contains(.reply) else { continue }
            if path { frame.hasFailed = true } else { markFailed() }
        }
    }

    mutating func addNotice(_ bytes: UnsafeRawBufferPointer) {
        guard noticeText.count < Self.longest, !noticeText.isEmpty || !XMLSpace.isAll(of: bytes) else { return }
        noticeText.append(contentsOf: bytes.prefix(Self.longest - noticeText.count))
    }

    /// Judges the text read so far in an element.
    mutating func endNotice(of frame: Frame) {
        guard !noticeText.isEmpty else { return }
        let text = String(decoding: noticeText, as: UTF8.self)
        noticeText.removeAll(keepingCapacity: true)
        guard frame.isNoted else { return }
        let name = names.name(frame.name)
        guard let found = take(text, frame.signs, name: name, isRepeated: frame.isRepeated) else { return }
        if frame.isUnexpected, unexpectedElement == nil { unexpectedElement = frame.name }
        if found.weight == .failure, frame.signs.contains(.reply) { markFailed() }
    }

    /// Ends an element on the path to the records: one that failed and leads to none has lost them.
    mutating func endPath(_ frame: Frame) {
        if frame.hasFailed, !frame.hasNext, failedPart == nil { failedPart = failure }
    }

    /// Keeps the gravest notice; returns the one that a value makes.
    private mutating func take(
        _ value: String, _ signs: ReplyNameSigns, name: String, isRepeated: Bool
    ) -> ReplyNotice? {
        let value = value.trimmingWhiteSpace
        if judgesBody { noteOutcome(value, signs, name: name) }
        if !isRepeated { notePromise(value, signs, name: name) }
        guard var found = ReplyNotice(value, of: signs, name: name, plan.recordWords) else {
            let isSuccess =
                !signs.isDisjoint(with: [.state, .success]) && AllClear.isSuccess(value, of: name, plan.recordWords)
            if isSuccess, !isRepeated || signs.contains(.reply) { noticesSuccess = true }
            return nil
        }
        // What repeats may be an object around the records, with a state of its own.
        if isRepeated, !signs.contains(.reply) { found.weight = .remark }
        if notice.map({ $0.weight < found.weight }) ?? true { notice = found }
        if found.weight == .failure, signs.contains(.reply), failure == nil { failure = found }
        return found
    }

    /// Notes whether a value says that more records follow, or that none do.
    private mutating func notePromise(_ value: String, _ signs: ReplyNameSigns, name: String) {
        if signs.denies(value) { deniesMore = true }
        guard signs.promises(value) else { return }
        let found = ReplyNotice(weight: .remark, name: name, text: value)
        // `hasNextPage` is a flag, although its name is that of a position, too.
        if signs.subtracting(.next).promises(value) {
            promise = promise ?? found
        } else {
            nextPosition = nextPosition ?? found
        }
    }

    /// Notes whether a reply to a change says that it was not carried out, and why.
    private mutating func noteOutcome(_ value: String, _ signs: ReplyNameSigns, name: String) {
        let found = ReplyNotice(value, of: signs, name: name)
        if message == nil, signs.contains(.message), found != nil { message = value }
        // A method that returns whether it succeeded.
        let isResult = name == "return" || name.hasSuffix("Result") || name == "result"
        if let found, found.isRefusal {
            refusal = refusal ?? found
        } else if isResult, value == "false" {
            refusal = refusal ?? ReplyNotice(weight: .failure, name: name, text: value)
        } else if let found, found.weight == .failure {
            doubt = doubt ?? found
        } else if isResult, ReplyNotice.beginsWithFailure(value), !AllClear.isPhrase(value) {
            doubt = doubt ?? ReplyNotice(weight: .failure, name: name, text: value)
        }
    }

    private mutating func markFailed() {
        guard let index = frames.lastIndex(where: { !$0.isBeside }) else { return }
        frames[index].hasFailed = true
    }
}
