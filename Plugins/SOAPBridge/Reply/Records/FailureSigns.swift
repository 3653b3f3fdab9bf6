internal import Inference

/// The elements and attributes of a reply that say whether it failed: many services answer so in place of a fault.
///
/// Without them, an empty list beside `success` false would pass for a listing without records.
struct FailureSigns: Sendable, Equatable {
    /// The paths from the body's element: a flag of success, an error or its code, the text in an error with several
    /// elements, and a message; empty for none.
    private(set) var success: [String] = []
    private(set) var error: [String] = []
    private(set) var detail: [String] = []
    private(set) var message: [String] = []
    /// The path of a state, until it takes the place of an error or its detail.
    private var state: [String] = []

    static let successes: Set<String> = [
        "success", "succeeded", "successful", "issuccess", "issuccessful", "ok", "isok",
    ]
    private static let failures: Set<String> = ["failed", "failure", "error", "haserror", "haserrors", "iserror"]
    private static let errors: Set<String> = ["error", "errors", "errorcode", "errcode", "fault", "faultcode"]
    private static let messages: Set<String> = ["message", "errormessage", "statusmessage", "errortext"]
    /// Names, beside those that end in status, whose value says that something failed only if it begins so:
    /// `ErrorServerBusy`, `Failed`.
    private static let states: Set<String> = [
        "result", "resultcode", "responsecode", "responseclass", "returncode", "statuscode",
    ]
    /// States that are the flag of a success if they are a boolean.
    private static let flags: Set<String> = ["status", "responsestatus", "returnstatus"]

    /// No signs.
    init() {}

    /// Finds the members around the records, by their names and types.
    init(around records: [String], of operation: WSDLOperation, _ schemas: SchemaSet) {
        guard !records.isEmpty,
            let path = try? ReplyPaths(operation, schemas).checked(records, option: "records")
        else { return }
        var level = operation.output.elements
        for (index, name) in path.dropLast().enumerated() {
            guard let element = level.first(where: { $0.name.local == name }), !element.isRepeated,
                case .complex(let type) = schemas[element.type]
            else { break }
            let place = Array(path[...index])
            for child in type.children where child.name.local != path[index + 1] {
                take(child, at: place + [child.name.local], schemas)
            }
            for attribute in type.attributes {
                take(NameWords.plain(attribute.name), attribute.kind, at: place + ["@" + attribute.name])
            }
            level = type.children
        }
        if error.isEmpty {
            error = state
        } else if detail.isEmpty {
            detail = state
        }
        state = []
    }

    private mutating func take(_ element: SchemaElement, at path: [String], _ schemas: SchemaSet) {
        let name = NameWords.plain(element.name.local)
        switch schemas[element.type] {
        case .simple(let kind): take(name, kind, at: path)
        case .complex(let type):
            guard detail.isEmpty, Self.errors.contains(name) else { return }
            // The element itself has no text; what it says about the error has.
            for child in type.children {
                if case .simple = schemas[child.type] {
                    detail = path + [child.name.local]
                    return
                }
            }
        case .any: break
        }
    }

    private mutating func take(_ name: String, _ kind: SimpleKind, at path: [String]) {
        if kind == .boolean {
            if success.isEmpty, Self.successes.contains(name) || Self.flags.contains(name) { success = path }
            if error.isEmpty, Self.failures.contains(name) { error = path }
        } else {
            if error.isEmpty, Self.errors.contains(name) { error = path }
            if state.isEmpty, Self.isState(name) { state = path }
            if message.isEmpty, Self.messages.contains(name) { message = path }
        }
    }

    /// Returns the sign of failure in a reply, in words; nil if it has none.
    ///
    /// - Parameters:
    ///   - errors: The values of errors, states and, if they may say alone that the reply failed, messages.
    ///   - names: The words in the name of a record, for ``AllClear``.
    static func sign(
        success: String?, errors: [(name: String, value: String)], message: String?, _ names: Set<String>
    ) -> String? {
        let reason = message.map { ": \($0.prefix(300))" } ?? ""
        if let success, ["false", "0"].contains(success.lowercased()) { return "success is \(success)\(reason)" }
        let error = errors.first { name, value in
            if isState(name) { return AllClear.isFailure(value) }
            return isMessage(name)
                ? ReplyNotice.beginsWithFailure(value) && !AllClear.isPhrase(value, names)
                : !AllClear.isNone(value, names)
        }
        return error.map { name, value in
            let word = isState(name) || isMessage(name) ? name : "error"
            return "its \(word) is \(value.prefix(100))\(value == message ? "" : reason)"
        }
    }

    /// Returns whether a reply says that it did not fail.
    static func saysSuccess(
        _ success: String?, errors: [(name: String, value: String)], _ names: Set<String>
    ) -> Bool {
        ["true", "1"].contains(success?.lowercased())
            || errors.contains { name, value in
                isState(name) ? AllClear.isSuccess(value, of: name, names) : AllClear.isNone(value, names)
            }
    }

    /// Returns whether 1 is a success as the value of a flag or a state, rather than a code.
    static func maySayOne(_ name: String) -> Bool {
        let plain = NameWords.plain(name)
        return successes.contains(plain) || plain.hasSuffix("status")
    }

    /// Returns whether a name is that of a state: `OverallStatus`.
    static func isState(_ name: String) -> Bool {
        let plain = NameWords.plain(name)
        return states.contains(plain) || plain.hasSuffix("status")
    }

    private static func isMessage(_ name: String) -> Bool { messages.contains(NameWords.plain(name)) }
}
