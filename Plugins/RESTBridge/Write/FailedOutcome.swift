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
        if !isNew, let code = outcomes.code(root) {
            self = code
            return
        }
        var places: [(path: String, value: JSONTree)] = root.elements == nil ? [] : [("$", root)]
        for name in ["data", "result", "results", "response", "Response"] {
            guard let home = root[name] else { continue }
            let place = PagingDetector.member("$", name)
            places.append((place, home))
            // The results of a mutation. An object has other values, too, and in its parts states of their own.
            let isPayload = home.members.allSatisfy {
                $0.value.isObject || $0.value == .null || $0.name == "__typename"
            }
            guard name == "data", isPayload, !outcomes.showsObject(home) else { continue }
            places += home.members.map { (PagingDetector.member(place, $0.name), $0.value) }
        }
        places += records.compactMap { Self.place($0, in: root) }
        for (place, home) in places {
            let parts = home.elements.map { $0.enumerated().map { ("\(place)[\($0.offset)]", $0.element) } }
            let isListed = parts != nil || place.hasSuffix("]") && place.dropLast().last?.isNumber == true
            guard isListed || !isNew else { continue }
            let failed = (parts ?? [(place, home)]).compactMap { part in
                outcomes.sign(part.1, isListed: isListed).map { (part.0, part.1, $0) }
            }
            guard let (at, object, sign) = failed.first else { continue }
            path = PagingDetector.member(at, sign.name)
            value = sign.value.elements != nil ? "a list" : sign.value.isObject ? "an object" : sign.value.json
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

    private init(path: String, value: String, words: String?) {
        (self.path, self.value, self.words, isUnclear) = (path, value, words, true)
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
        func showsObject(_ object: JSONTree) -> Bool {
            object.members.contains { name, value in
                guard let text = EarlierValues.scalar(value), !text.isEmpty else { return false }
                return own.identities.contains(name) || own.contains(name, value)
            }
        }

        func sign(
            _ object: JSONTree, isListed: Bool
        ) -> (name: String, value: JSONTree, isUnclear: Bool)? {
            guard object.isObject, isOutcome(object) else { return nil }
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
                let status = members.first(where: { OutcomeWords.plain($0.name) == "status" }),
                let state = status.value.text?.lowercased(), OutcomeWords.failedStates.contains(state)
            else { return nil }
            return (status.name, status.value, showsObject || object.members.contains { own.hasName($0.name) })
        }

        private func isOutcome(_ object: JSONTree) -> Bool {
            object.members.allSatisfy { member in
                member.value == .null || OutcomeWords.plainMembers.contains(OutcomeWords.plain(member.name))
                    || own.identities.contains(member.name)
            }
        }

        /// A code other than those of success, in a reply that has a message and no object.
        func code(_ root: JSONTree) -> FailedOutcome? {
            guard root.isObject else { return nil }
            let rest = root.members.filter {
                !["data", "result"].contains($0.name) || !FailedOutcome.isEmpty($0.value)
            }
            let outcome = JSONTree.object(.init(rest.map { ($0.name, $0.value) }))
            guard isOutcome(outcome), !showsObject(outcome),
                let words = rest.lazy.filter({ OutcomeWords.plainMessages.contains(OutcomeWords.plain($0.name)) })
                    .compactMap(\.value.text).first,
                !OutcomeWords.saysSuccess(words, verbs: verbs)
            else { return nil }
            let codes = rest.lazy.filter { OutcomeWords.plainCodes.contains(OutcomeWords.plain($0.name)) }
            guard let code = codes.first(where: { isFailed($0.name, $0.value) }) else { return nil }
            return FailedOutcome(
                path: PagingDetector.member("$", code.name), value: code.value.json, words: words.isEmpty ? nil : words)
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
        case .object(let members): members.isEmpty
        case .bool, .number, .text: false
        }
    }
}
