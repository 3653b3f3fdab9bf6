internal import BridgeJSON
internal import BridgeKit

/// The values that an update replaces, as they were last imported.
struct EarlierValues {
    private let values: JSONTree

    init(_ request: WriteRequest) { values = JSONTree(request.before) }

    /// Returns the path of the first value that the remote has changed meanwhile; nil if none.
    ///
    /// - Parameter object: The remote's object. It may have another structure than the listing's records: a member that it
    ///   lacks says nothing.
    func difference(from object: JSONTree) -> String? { Self.difference(values, object, path: []) }

    /// Whether an object shows values that the change replaces, and all of them are as they were before.
    ///
    /// - Parameter sent: The values that were sent.
    func areKept(in object: JSONTree, despite sent: JSONTree) -> Bool {
        let shown = Self.shown(values, sent, object)
        return !shown.isEmpty && !shown.contains(false)
    }

    /// Whether each sent value that the object shows is the earlier one, and not the sent one.
    private static func shown(_ before: JSONTree?, _ sent: JSONTree, _ now: JSONTree) -> [Bool] {
        if case .object(let members) = sent, now.isObject, !members.isEmpty {
            return members.all.flatMap { name, value in now[name].map { shown(before?[name], value, $0) } ?? [] }
        }
        return [before.map { isSame($0, now) } == true && !isSame(sent, now)]
    }

    private static func isSame(_ left: JSONTree, _ right: JSONTree) -> Bool {
        if let left = scalar(left), let right = scalar(right) { return SameNotation.isSame(left, right) }
        guard let list = left.elements, let others = right.elements else { return left == right }
        return list.count == others.count && zip(list, others).allSatisfy(isSame)
    }

    private static func difference(_ before: JSONTree, _ now: JSONTree, path: [String]) -> String? {
        switch (before, now) {
        case (.object(let members), .object):
            return members.all.lazy.compactMap { name, value in
                now[name].flatMap { difference(value, $0, path: path + [name]) }
            }.first
        case (.array(let list), .array(let others)):
            let isSame =
                list.count == others.count && zip(list, others).allSatisfy { difference($0, $1, path: []) == nil }
            return isSame ? nil : path.joined(separator: ".")
        default:
            // A remote that has an object or a list in this place shows the value in another form.
            guard let old = scalar(before), let new = scalar(now) else { return nil }
            return SameNotation.isSame(old, new) ? nil : path.joined(separator: ".")
        }
    }

    /// Whether a value is neither missing nor null, nor an empty text, an object or a list.
    static func isGiven(_ value: JSONTree?) -> Bool { value.flatMap(scalar).map { !$0.isEmpty } ?? false }

    /// The notation of a value; empty for null.
    static func scalar(_ value: JSONTree) -> String? {
        switch value {
        case .null: ""
        case .bool(let flag): flag ? "true" : "false"
        case .number(let text), .text(let text): text
        case .array, .object: nil
        }
    }
}
