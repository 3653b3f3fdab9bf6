internal import BridgeJSON
internal import BridgeKit

/// An object in the reply to a change that has nothing but an outcome, and says that the change was not made.
///
/// It stands where the object would be: in an envelope, or in the list of a request for several objects.
struct FailedOutcome {
    /// The path of the sign in the reply.
    let path: String
    /// The value at that path, in words.
    let value: String
    /// The remote's message, if there is one.
    let words: String?
    /// Whether the change may have been made: another part of the reply succeeded, the sign is a code without a known
    /// meaning, or a status that may be the object's own.
    let isUnclear: Bool

    /// Words of codes that tell why a change is refused; a listing with such a code may be empty.
    private static let refusals: Set<String> = [
        "not", "notfound", "lock", "locked", "missing", "expired", "conflict", "duplicate", "duplicated", "exist",
        "exists", "reject", "rejected", "refused", "unavailable", "limit", "limited", "violation", "illegal", "wrong",
        "abort", "aborted", "cancel", "canceled", "cancelled", "timeout",
    ]

    /// - Parameters:
    ///   - records: The paths at which the object may be.
    ///   - isNew: Whether the reply has a new object by its key. Only lists are judged then.
    init?(_ root: JSONTree, _ request: WriteRequest, at records: [JSONPath], isNew: Bool) {
        let outcomes = Outcomes(request)
        if root["jsonrpc"] != nil, root["result"] == .bool(false) {
            (path, value, words, isUnclear) = ("$.result", "false", nil, false)
            return
        }
        if !isNew, let code = outcomes.code(root) ?? outcomes.head(root) ?? Self.denial(root) {
            self = code
            return
        }
        var places: [(path: String, value: JSONTree)] = root.elements == nil ? [] : [("$", root)]
        for name in ["data", "d", "result", "results", "response", "Response"] {
            guard let home = root[name] else { continue }
            let place = ReplySurvey.member("$", name)
            places.append((place, home))
            // The results of a mutation. An object has other values, too, and in its parts states of their own.
            let isPayload = home.members.allSatisfy {
                $0.value.isObject || $0.value == .null || $0.name == "__typename"
            }
            guard name == "data", isPayload, !outcomes.showsObject(home) else { continue }
            places += home.members.map { (ReplySurvey.member(place, $0.name), $0.value) }
        }
        places += records.compactMap { Self.place($0, in: root) }
        if let error = (places + [("$", root)]).lazy.compactMap({ outcomes.errorType($0.value, at: $0.path) }).first {
            self = error
            return
        }
        for (name, value) in root.members where outcomes.isBatch(name, value) {
            places.append((ReplySurvey.member("$", name), value))
        }
        for (place, home) in places {
            let parts = home.elements.map { $0.enumerated().map { ("\(place)[\($0.offset)]", $0.element) } }
            let isListed = parts != nil || place.hasSuffix("]") && place.dropLast().last?.isNumber == true
            guard isListed || !isNew else { continue }
            let failed = (parts ?? [(place, home)]).compactMap { part in
                outcomes.sign(part.1, isListed: isListed).map { (part.0, part.1, $0) }
            }
            guard let (at, object, sign) = failed.first else { continue }
            path = ReplySurvey.member(at, sign.name)
            value = FailedChange.outline(sign.value, isShort: true)
            let errors = object.members.lazy.filter { FailedChange.isFailure($0.name, $0.value) }
            words = errors.compactMap { FailedChange.words($0.value) }.first ?? FailedChange.message(object)
            isUnclear = sign.isUnclear || failed.count < (parts?.count ?? 1)
            return
        }
        return nil
    }

    /// Returns what a reply has at a path of the object; nil if that is nothing, or the whole reply.
    private static func place(_ path: JSONPath, in root: JSONTree) -> (path: String, value: JSONTree)? {
        let (place, found) = (path.description, path.values(in: root))
        guard place != "$", !found.isEmpty else { return nil }
        if place.hasSuffix("[*]") { return (String(place.dropLast(3)), .array(found)) }
        return found.count == 1 ? (place, found[0]) : nil
    }

    private init(path: String, value: JSONTree, words: String?, isUnclear: Bool = true) {
        (self.path, self.value, self.words, self.isUnclear) = (
            path, FailedChange.outline(value, isShort: true), words, isUnclear
        )
    }

    /// `false` as the only value of a reply.
    private static func denial(_ root: JSONTree) -> FailedOutcome? {
        let values = root.members.filter { $0.value != .null }
        guard values.count == 1, let (name, value) = values.first, value == .bool(false),
            ["data", "result", "response"].contains(name)
        else { return nil }
        return FailedOutcome(path: ReplySurvey.member("$", name), value: value, words: nil)
    }

    /// The judgment of objects by what is known of the change.
    private struct Outcomes {
        /// The object's values, which say nothing about the change.
        let own: OwnValues
        /// Words of a message that says that the change was made.
        let verbs: Set<String>

        init(_ request: WriteRequest) {
            own = OwnValues(request)
            verbs =
                switch request.operation {
                case .create: ["created", "added", "inserted", "registered", "saved"]
                // What was changed or modified may have been so by another client.
                case .update: ["updated", "edited", "saved"]
                case .delete: ["deleted", "removed", "destroyed"]
                }
        }

        /// Whether an object has a key, or values of the changed object.
        func showsObject(_ object: JSONTree) -> Bool { own.isIdentified(object) || own.areShown(in: object) }

        /// Whether a member is a list of the outcomes of a batch.
        func isBatch(_ name: String, _ value: JSONTree) -> Bool {
            value.elements != nil && OutcomeWords.plainBatches.contains(OutcomeWords.plain(name)) && !own.hasName(name)
        }

        func sign(
            _ object: JSONTree, isListed: Bool
        ) -> (name: String, value: JSONTree, isUnclear: Bool)? {
            guard object.isObject, own.isOutcome(object) || isListed && isRefused(object) else { return nil }
            let members = object.members.filter { !own.contains($0.name, $0.value) }
            let showsObject = showsObject(object)
            let flag = members.first { OutcomeWords.isFalseFlag($0.name, $0.value) }
            let failed =
                flag
                ?? members.first { name, value in
                    guard FailedChange.isFailure(name, value) else { return false }
                    // Payments, jobs and the like fail, too.
                    return !showsObject || value.elements != nil || value.isObject || isListed && value.text != nil
                }
            // The remote may have changed a value of the object.
            if let failed { return (failed.name, failed.value, own.hasName(failed.name)) }
            guard !showsObject || isListed && FailedChange.message(object) != nil,
                let status = members.first(where: { OutcomeWords.isFailedState($0.name, $0.value) })
            else { return nil }
            return (status.name, status.value, showsObject || object.members.contains { own.hasName($0.name) })
        }

        /// Whether an object without a value of the changed one has a failed state and an error, which records do not have.
        private func isRefused(_ object: JSONTree) -> Bool {
            let foreign = object.members.filter { own.isForeign($0.name) }
            return !showsObject(object) && foreign.contains { OutcomeWords.isFailedState($0.name, $0.value) }
                && foreign.contains { FailedChange.isFailure($0.name, $0.value) }
        }

        /// A code other than those of success, in a reply that has a message and no object.
        ///
        /// Beside data, only a code that names a failure by itself is one.
        func code(_ root: JSONTree) -> FailedOutcome? {
            guard root.isObject else { return nil }
            let rest = root.members.filter { !["data", "result"].contains($0.name) || own.hasName($0.name) }
            let hasData = root.members.contains { name, value in
                ["data", "result"].contains(name) && !own.hasName(name) && !FailedOutcome.isEmpty(value)
            }
            return code(in: .object(.init(rest.map { ($0.name, $0.value) })), at: "$", isKnown: hasData)
        }

        /// A failure that the object around the reply's facts tells, such as `meta` or `header`.
        ///
        /// It may stand in the reply's only member, beside nothing but the data.
        func head(_ root: JSONTree) -> FailedOutcome? {
            if let failure = head(in: root, at: "$") { return failure }
            guard root.members.count == 1, let (name, inner) = root.members.first, !own.hasName(name) else {
                return nil
            }
            let isEnvelope = inner.members.allSatisfy { name, _ in Self.isHead(name) || Self.isData(name) }
            return isEnvelope ? head(in: inner, at: ReplySurvey.member("$", name)) : nil
        }

        private static func isHead(_ name: String) -> Bool {
            OutcomeWords.plainHeads.contains(OutcomeWords.plain(name))
        }

        private static func isData(_ name: String) -> Bool { ["data", "result", "response"].contains(name) }

        private func head(in home: JSONTree, at path: String) -> FailedOutcome? {
            guard !showsObject(home) else { return nil }
            for (name, head) in home.members where !own.hasName(name) && (Self.isHead(name) || Self.isData(name)) {
                let place = ReplySurvey.member(path, name)
                if let code = code(in: head, at: place, isKnown: true) { return code }
                let sign = head.members.first { name, value in
                    OutcomeWords.isFalseFlag(name, value)
                        || !showsObject(head) && OutcomeWords.isFailedState(name, value)
                }
                guard Self.isHead(name), let sign else { continue }
                return FailedOutcome(
                    path: ReplySurvey.member(place, sign.name), value: sign.value, words: FailedChange.message(head))
            }
            return nil
        }

        /// A type such as `ValidationError`, by which a mutation's result and an error of AWS name themselves.
        func errorType(_ object: JSONTree, at place: String) -> FailedOutcome? {
            guard !showsObject(object) else { return nil }
            for name in ["__typename", "__type"] {
                guard let type = object[name], let text = type.text, OutcomeWords.isErrorType(text) else { continue }
                return FailedOutcome(
                    path: ReplySurvey.member(place, name), value: type, words: FailedChange.message(object),
                    isUnclear: own.hasName(name))
            }
            return nil
        }

        /// - Parameter isKnown: Whether only a code with a known meaning counts: one of HTTP, or one in words.
        private func code(in outcome: JSONTree, at place: String, isKnown: Bool) -> FailedOutcome? {
            // A key says little: some replies repeat the one of the request.
            let isKeyed = own.isIdentified(outcome)
            guard outcome.isObject, own.isOutcome(outcome), !own.areShown(in: outcome),
                !isKeyed || own.haveKey(of: outcome),
                let words = outcome.members.lazy
                    .filter({ OutcomeWords.plainMessages.contains(OutcomeWords.plain($0.name)) })
                    .compactMap(\.value.text).first,
                !OutcomeWords.saysSuccess(words, verbs: verbs)
            else { return nil }
            let code = outcome.members.first { name, value in
                guard !isKeyed || own.isForeign(name) else { return false }
                let isCode = OutcomeWords.plainCodes.contains(OutcomeWords.plain(name))
                guard isKnown else { return isCode && isFailed(name, value) }
                let number = value.plainText.flatMap { Int($0) }
                if let number {
                    return (isCode || OutcomeWords.statusCodes.contains(name)) && (400...599).contains(number)
                }
                return isCode && isFailed(name, value)
            }
            guard let code else { return nil }
            return FailedOutcome(
                path: ReplySurvey.member(place, code.name), value: code.value, words: words.isEmpty ? nil : words)
        }

        private func isFailed(_ name: String, _ value: JSONTree) -> Bool {
            guard let text = value.plainText, !OutcomeWords.isClear(code: text) else { return false }
            let isError = OutcomeWords.plain(name).hasPrefix("err")
            if let number = Int(text) { return isError || number != 1 && !(200...299).contains(number) }
            if OutcomeWords.saysSuccess(text, verbs: verbs) { return false }
            return isError || OutcomeWords.isFailed(code: text)
                || OutcomeWords.words(code: text).contains(where: FailedOutcome.refusals.contains)
        }
    }

    /// Whether nothing stands in the place of the object.
    private static func isEmpty(_ value: JSONTree) -> Bool {
        switch value {
        case .null, .bool(false), .text(""): true
        case .array(let elements): elements.isEmpty
        // WordPress repeats the status there.
        case .object(let members):
            members.all.allSatisfy { name, value in
                OutcomeWords.statusCodes.contains(name)
                    && value.plainText.flatMap { Int($0) }.map { (400...599).contains($0) } ?? false
            }
        case .bool, .number, .text: false
        }
    }
}
