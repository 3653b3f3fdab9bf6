internal import BridgeXML

/// Values outside the records: the total, the token, whether there are more records, and whether the reply failed.
extension ReplyMachine {
    private static let longest = 64 << 10

    /// The text at a capture's path once read; nil before that or if it is empty.
    func captured(_ capture: ReplyPlan.Capture) -> String? { captured[capture.rawValue] }

    /// The total number of records, once read.
    var total: Int64? {
        totals ?? captured(.total).flatMap(Self.count)
    }

    /// Returns a number of records, which may be a decimal (`12.0`); nil for another text.
    private static func count(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.count == 1 || !parts[1].contains(where: { $0 != "0" }),
            let number = Int64(whole), number >= 0
        else { return nil }
        return number
    }

    /// Returns whether a flag, or a number of those that follow, says that there are more records; nil if it does not say.
    static func isMore(_ text: String?) -> Bool? { text.flatMap(count).map { $0 > 0 } ?? AllClear.flag(text) }

    mutating func beginCaptures(_ element: XMLStartElement, _ frame: Frame) {
        let matches = frame.captureMatches
        for (index, path) in plan.captures.enumerated() where matches[index] > 0 {
            if Int(matches[index]) == path.count {
                captureText.removeAll(keepingCapacity: true)
                capturing = index
            } else if Int(matches[index]) == path.count - 1 {
                captureAttribute(element, index, name: path[path.count - 1], frame.type)
            }
        }
    }

    private mutating func captureAttribute(
        _ element: XMLStartElement, _ index: Int, name: Int32, _ type: ReplyPlan.TypeNumber
    ) {
        let declared = plan.attribute(name, of: plan.types[Int(type)])
        let isCollapsed = declared.map { $0.isCollapsed || $0.kind != .text } ?? false
        let keepsAll = isExact
        for place in 0..<element.attributeCount {
            guard let attribute = element.attribute(place) else { continue }
            let needsPrefix = element.needsPrefix(place) { $0.isData(isExact: keepsAll) }
            guard memberName(of: attribute, withPrefix: needsPrefix) == name else { continue }
            set(index, attribute.value, isCollapsed: isCollapsed)
        }
    }

    mutating func capture(_ bytes: UnsafeRawBufferPointer) {
        guard captureText.count < Self.longest else { return }
        captureText.append(contentsOf: bytes.prefix(Self.longest))
    }

    /// Ends the element of a capture, which has this type.
    mutating func endCapture(_ type: ReplyPlan.TypeNumber) {
        guard let index = capturing else { return }
        capturing = nil
        let text = String(decoding: captureText, as: UTF8.self)
        let content = plan.types[Int(type)]
        let isCollapsed = content.isCollapsed || (content.text ?? .text) != .text
        set(index, text, isCollapsed: isCollapsed)
        // Two captures may have the same path.
        for (other, path) in plan.captures.enumerated() where other != index && path == plan.captures[index] {
            let isToken = other == ReplyPlan.Capture.token.rawValue
            if !isToken {
                captured[other] = captured[index]?.trimmingWhiteSpace
            } else if !text.trimmingWhiteSpace.isEmpty {
                captured[other] = Self.token(text, isCollapsed: isCollapsed)
            }
        }
    }

    /// Returns a token as the service gets it back.
    ///
    /// White space around it may be a part of it, unless its type or a line break, with which a service indents its
    /// reply, says otherwise.
    private static func token(_ text: String, isCollapsed: Bool) -> String {
        let start = text.prefix(while: { $0.isWhitespace })
        let end = text.reversed().prefix(while: { $0.isWhitespace })
        let isIndented = start.contains(where: { $0.isNewline }) || end.contains(where: { $0.isNewline })
        return isCollapsed || isIndented ? text.trimmingWhiteSpace : text
    }

    private mutating func set(_ index: Int, _ value: String, isCollapsed: Bool) {
        var text = value.trimmingWhiteSpace
        guard !text.isEmpty else { return }
        if index == ReplyPlan.Capture.token.rawValue { text = Self.token(value, isCollapsed: isCollapsed) }
        let isKept =
            switch ReplyPlan.Capture(rawValue: index) {
            // Of several parts, one is enough for more records, or for a failure.
            case .more: Self.isMore(captured[index]) == true
            case .done, .success: AllClear.flag(captured[index]) == false
            default: false
            }
        if !isKept { captured[index] = text }
        if index == ReplyPlan.Capture.total.rawValue, plan.addsTotals, let number = Self.count(text) {
            let (sum, isOver) = (totals ?? 0).addingReportingOverflow(number)
            totals = isOver ? .max : sum
        }
    }
}
