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
    /// Whether the change may have been made: another part of the reply succeeded, or the sign is a code without a known
    /// meaning.
    let isUnclear: Bool

    /// The members that an outcome has, in small letters and without separators, beside those of ``FailedChange``.
    private static let members: Set<String> = [
        "success", "succeeded", "issuccess", "successful", "ok", "status", "statuscode", "code", "errcode", "errorcode",
        "retcode", "resultcode", "returncode", "message", "msg", "errmsg", "retmsg", "resultmessage", "returnmsg",
        "detail", "details", "reason", "description", "title", "type", "timestamp", "path", "requestid", "traceid",
        "clientmutationid", "created", "typename", "id", "uuid", "gid", "key",
    ]
    private static let flags: Set<String> = ["success", "succeeded", "issuccess", "successful", "ok"]
    private static let codes: Set<String> = ["code", "errcode", "errorcode", "retcode", "resultcode", "returncode"]
    private static let texts: Set<String> = ["errmsg", "retmsg", "resultmessage", "returnmsg", "message", "msg"]

    /// - Parameter known: Names of the object's own values, which say nothing about the change.
    init?(_ root: JSONTree, known: Set<String>) {
        if root["jsonrpc"] != nil, root["result"] == .bool(false) {
            (path, value, words, isUnclear) = ("$.result", "false", nil, false)
            return
        }
        if let code = Self.code(root, known) {
            self = code
            return
        }
        var places: [(path: String, value: JSONTree)] = root.elements == nil ? [] : [("$", root)]
        for name in ["data", "result", "results"] {
            guard let home = root[name] else { continue }
            let place = PagingDetector.member("$", name)
            places.append((place, home))
            guard name == "data", home.isObject else { continue }
            places += home.members.map { (PagingDetector.member(place, $0.name), $0.value) }
        }
        for (place, home) in places {
            let parts = home.elements.map { $0.enumerated().map { ("\(place)[\($0.offset)]", $0.element) } }
            let failed = (parts ?? [(place, home)]).compactMap { part in
                Self.sign(part.1, known).map { (part.0, part.1, $0) }
            }
            guard let (at, object, sign) = failed.first else { continue }
            path = PagingDetector.member(at, sign.name)
            value = sign.value.elements != nil ? "a list" : sign.value.isObject ? "an object" : sign.value.json
            let errors = object.members.lazy.filter { FailedChange.isFailure($0.name, $0.value) }
            words = errors.compactMap { FailedChange.words($0.value) }.first ?? FailedChange.message(object)
            isUnclear = failed.count < (parts?.count ?? 1)
            return
        }
        return nil
    }

    private init(path: String, value: String, words: String?) {
        (self.path, self.value, self.words, isUnclear) = (path, value, words, true)
    }

    private static func sign(_ object: JSONTree, _ known: Set<String>) -> (name: String, value: JSONTree)? {
        guard object.isObject, isOutcome(object) else { return nil }
        let members = object.members.filter { !known.contains($0.name) }
        func isFailed(_ name: String, _ value: JSONTree) -> Bool {
            switch FailedChange.plain(name) {
            case let name where flags.contains(name): value == .bool(false)
            case "status": ["error", "fail", "failed", "failure"].contains(value.text?.lowercased())
            default: FailedChange.isFailure(name, value)
            }
        }
        return members.first { isFailed($0.name, $0.value) }.map { ($0.name, $0.value) }
    }

    private static func isOutcome(_ object: JSONTree) -> Bool {
        object.members.allSatisfy { member in
            let name = FailedChange.plain(member.name)
            return members.contains(name) || FailedChange.errors.contains(name) || member.value == .null
        }
    }

    /// A code other than those of success, in a reply that has a message and no object.
    private static func code(_ root: JSONTree, _ known: Set<String>) -> FailedOutcome? {
        guard root.isObject else { return nil }
        let rest = root.members.filter { !["data", "result"].contains($0.name) || !$0.value.members.isEmpty }
        guard isOutcome(.object(.init(rest.map { ($0.name, $0.value) }))),
            !rest.contains(where: { known.contains($0.name) || ["id", "uuid"].contains($0.name.lowercased()) }),
            let words = rest.lazy.filter({ texts.contains(FailedChange.plain($0.name)) }).compactMap(\.value.text).first
        else { return nil }
        let said = words.lowercased()
        guard
            !["succe", "ok", "done", "created", "updated", "deleted", "saved"].contains(
                where: said.hasPrefix)
        else { return nil }
        for (name, value) in rest where codes.contains(FailedChange.plain(name)) {
            let text = value.text ?? value.json
            let isError = FailedChange.plain(name).hasPrefix("err")
            let isNumber = Int(text) != nil
            let isSuccess = Int(text).map { $0 == 0 || !isError && ($0 == 1 || (200...299).contains($0)) } ?? false
            guard value != .null, !isSuccess, isNumber || !FailedChange.successes.contains(text.lowercased()) else {
                continue
            }
            return FailedOutcome(path: PagingDetector.member("$", name), value: value.json, words: words)
        }
        return nil
    }
}
