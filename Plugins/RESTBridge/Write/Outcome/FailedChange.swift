internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// A sign in a successful reply to a change that the change was not made.
///
/// An object may have values of such names. So a sign counts only in a reply without the object's key, or where the reply shows
/// the object as it was before.
struct FailedChange {
    enum Kind: Equatable {
        /// The reply has errors.
        case errors
        /// The reply counts no changed object.
        case nothingChanged
    }

    let kind: Kind
    /// The path of the sign in the reply.
    let path: String
    /// The value at that path, in words.
    let value: String
    /// The remote's message, if there is one.
    let words: String?
    /// Whether the sign has the name of a member that records of the entity have.
    let isUnclear: Bool

    /// - Parameters:
    ///   - request: The change.
    ///   - isUpdate: Whether the request changes an object in place, as a delete by PATCH does.
    ///   - isMutation: Whether the reply is that of a GraphQL mutation, whose results are the members of `data`.
    init?(_ root: JSONTree, _ request: WriteRequest, isUpdate: Bool, isMutation: Bool) {
        let homes = Self.homes(root, isMutation: isMutation)
        let (sent, own) = (Set(request.values.names), OwnValues(request))
        for (place, home) in homes {
            // An object in an envelope, such as a job, may have an error of its own.
            let isObject =
                place != "$" && OutcomeWords.identities.contains { home[$0].map { $0 != .null } ?? false }
                && !EarlierValues(request).areKept(in: home, despite: JSONTree(request.values))
            for (name, value) in home.members where !sent.contains(name) && Self.isFailure(name, value) {
                guard !isObject || value.isObject || value.elements != nil else { continue }
                let isOwn = own.hasName(name)
                guard !isOwn || !own.areShown(in: home) else { continue }
                self.init(
                    .errors, ReplySurvey.member(place, name), value, words: Self.words(value) ?? Self.words(root),
                    isUnclear: isOwn)
                return
            }
        }
        var names = Self.counts
        if request.operation == .create { names.formUnion(Self.counts(of: ["created", "inserted", "added"])) }
        if request.operation == .delete { names.formUnion(Self.counts(of: ["deleted", "removed"])) }
        if isUpdate { names.formUnion(Self.counts(of: ["updated", "modified", "nmodified", "matched", "nmatched"])) }
        let data = isMutation ? nil : root["data"].flatMap { own.areAbsent(from: $0) ? $0 : nil }
        for (place, home) in homes + (data.map { [("$.data", $0)] } ?? []) {
            // An object that had the values already is matched, and not modified. Beside values that were sent, a name may
            // be that of another value of the object.
            let isOther = home.members.contains { sent.contains($0.name) || Self.isPositiveCount($0.name, $0.value) }
            guard !isOther else { continue }
            for (name, value) in home.members where names.contains(OutcomeWords.plain(name)) && Self.isZero(value) {
                self.init(.nothingChanged, ReplySurvey.member(place, name), value, words: Self.message(root))
                return
            }
        }
        return nil
    }

    /// Errors beside or inside of an object that the reply shows as it was before an update.
    ///
    /// - Parameter record: The object in the reply, with its path; nil if it is not known where it is.
    init?(
        beside record: (path: String, object: JSONTree)?, _ root: JSONTree, _ request: WriteRequest, isMutation: Bool
    ) {
        let (earlier, sent) = (EarlierValues(request), JSONTree(request.values))
        let own = OwnValues(request)
        var objects = record.map { [$0] } ?? []
        for name in ["data", "result"] where !isMutation {
            if let object = root[name], object.isObject { objects.append((ReplySurvey.member("$", name), object)) }
        }
        guard let shown = objects.first(where: { earlier.areKept(in: $0.object, despite: sent) }) else { return nil }
        for (home, value) in Self.homes(root, isMutation: isMutation) + [(shown.path, shown.object)] {
            guard
                let error = value.members.first(where: { name, value in
                    !own.hasName(name) && (Self.isFailure(name, value) || OutcomeWords.isFalseFlag(name, value))
                })
            else { continue }
            let words = Self.words(error.value) ?? Self.message(value)
            self.init(.errors, ReplySurvey.member(home, error.name), error.value, words: words)
            return
        }
        return nil
    }

    /// The objects of a reply in which errors may stand, with their paths.
    private static func homes(_ root: JSONTree, isMutation: Bool) -> [(path: String, value: JSONTree)] {
        var homes = [(path: "$", value: root)]
        for name in isMutation ? ["data"] : ["result", "meta"] {
            guard let home = root[name], home.isObject else { continue }
            let place = ReplySurvey.member("$", name)
            homes +=
                isMutation ? home.members.map { (ReplySurvey.member(place, $0.name), $0.value) } : [(place, home)]
        }
        return homes
    }

    private init(_ kind: Kind, _ path: String, _ value: JSONTree, words: String?, isUnclear: Bool = false) {
        self.kind = kind
        self.path = path
        self.words = words
        self.value = Self.outline(value)
        self.isUnclear = isUnclear
    }

    /// Returns a value in words.
    ///
    /// - Parameter isShort: Whether a text is a code or a state, and no message.
    static func outline(_ value: JSONTree, isShort: Bool = false) -> String {
        switch value {
        case .array: "a list"
        case .object: "an object"
        case .text: isShort ? value.json : "a text"
        case .null, .bool, .number: value.json
        }
    }

    // MARK: Names

    /// Names of errors that hold a message as a text.
    private static let messages: Set<String> = [
        "error", "validationerror", "errormessage", "failure", "faultstring", "exceptionmessage", "exceptiontype",
    ]
    /// Names of errors that may be a number of them.
    private static let failedCounts: Set<String> = [
        "errors", "errorcount", "failures", "failurecount", "failed", "failedcount", "rejected", "rejectedcount",
    ]

    private static let counts: Set<String> = counts(of: ["affected", "changed"]).union([
        "rowsaffected", "affectedrows", "affectedrecords", "recordsaffected", "rowschanged", "changedrows", "rowcount",
    ])
    /// Names of counts of objects that are as the change would have them.
    private static let positives: Set<String> = counts.union(
        counts(of: [
            "created", "inserted", "added", "deleted", "removed", "updated", "modified", "nmodified", "matched",
            "nmatched", "unchanged", "upserted", "nupserted", "found", "replaced",
        ]))

    private static func counts(of words: [String]) -> Set<String> { Set(words.flatMap { [$0, $0 + "count"] }) }

    // MARK: Values

    static func isFailure(_ name: String, _ value: JSONTree) -> Bool {
        let name = OutcomeWords.plain(name)
        switch value {
        case .array, .object: return OutcomeWords.plainErrors.contains(name) && holdsValue(value)
        case .text(let text):
            return messages.contains(name) && !OutcomeWords.isNoError(text)
        case .number: return failedCounts.contains(name) && !isZero(value)
        case .bool(let flag): return flag && OutcomeWords.plainFailureFlags.contains(name)
        case .null: return false
        }
    }

    /// Whether a list or an object holds more than empty lists and nulls.
    private static func holdsValue(_ value: JSONTree) -> Bool {
        switch value {
        case .array(let elements): elements.contains(where: holdsValue)
        case .object(let members):
            members.all.contains { name, value in
                holdsValue(value) && !OutcomeWords.isSuccessCode(name, value.plainText.flatMap { Int($0) })
            }
        case .null: false
        case .text(let text): !OutcomeWords.isNoErrorInside(text)
        case .bool, .number: !isZero(value)
        }
    }

    private static func isZero(_ value: JSONTree) -> Bool { value == .bool(false) || value.json == "0" }

    private static func isPositiveCount(_ name: String, _ value: JSONTree) -> Bool {
        guard positives.contains(OutcomeWords.plain(name)) else { return false }
        return value == .bool(true) || Int(value.json).map { $0 > 0 } ?? false
    }

    /// Returns the message in an error: its own text, or that of its first part.
    static func words(_ value: JSONTree) -> String? {
        switch value {
        case .text(let text): text.isEmpty ? nil : text
        case .array(let elements): elements.lazy.compactMap(words).first
        case .object(let members):
            message(value)
                ?? members.all.lazy.compactMap { member in words(member.value).map { "\(member.name): \($0)" } }.first
        case .null, .bool, .number: nil
        }
    }

    static func message(_ value: JSONTree) -> String? {
        OutcomeWords.messages.lazy.compactMap { value[$0]?.text }
            .first { !$0.isEmpty }
    }
}
