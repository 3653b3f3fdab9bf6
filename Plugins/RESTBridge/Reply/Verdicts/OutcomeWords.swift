internal import BridgeJSON

/// The names and words in which replies say how a request ended, each meaning once.
enum OutcomeWords {
    // MARK: Names

    /// Names of flags that are false after a failure.
    static let flags = [
        "success", "Success", "ok", "succeeded", "isSuccess", "IsSuccess", "successful",
        "isSuccessful",
    ]
    /// Names of flags that are true after a failure.
    static let failureFlags = ["failed", "hasError", "has_error", "hasErrors", "has_errors", "isError", "is_error"]
    /// Names of members that hold a status of HTTP.
    static let statusCodes = ["status", "statusCode", "status_code"]
    /// Names of members that hold the status of a part of a reply.
    static let partStatuses = statusCodes + ["httpStatus", "http_status", "httpStatusCode", "Status"]
    /// Names of members that hold the code of an error: any but an all-clear is one.
    static let errorCodes = ["errcode", "errno", "error_code", "errorCode", "ErrorCode", "errCode", "err_code"]
    /// Names of members that hold the code of a result, which may be a success's.
    static let resultCodes = [
        "retcode", "ret_code", "ResultCode", "resultCode", "result_code", "return_code", "returnCode",
    ]
    /// Names of members that identify an object; replies about a failure lack them.
    static let identities = ["id", "Id", "ID", "_id", "uuid", "gid", "sid", "guid", "key"]

    /// Names of members that tell the reason of a failure in words.
    static let reasons = ["message", "Message", "msg", "detail", "description", "reason"]
    /// All names of messages, with those that beside a status do not show a failure.
    static let messages = reasons + ["error_message", "error_description", "title", "info"]

    /// The names of flags, codes and messages, for comparison with ``plain(_:)``.
    static let plainFlags = Set(flags.map(plain))
    static let plainFailureFlags = Set(failureFlags.map(plain)).union(["rejected", "error", "errors"])
    static let plainCodes = Set((["code"] + errorCodes + resultCodes).map(plain))
    static let plainMessages: Set<String> = [
        "errmsg", "errormsg", "retmsg", "resultmessage", "returnmsg", "message", "msg", "errorsummary",
        "errorinfo",
    ]
    /// Names of members that hold errors.
    static let plainErrors: Set<String> = [
        "error", "errors", "validationerror", "validationerrors", "fielderrors", "formerrors", "inputerrors",
        "nonfielderrors", "errormessage", "errormessages", "errorlist", "errordetails", "modelerrors", "modelstate",
        "requesterrors", "usererrors", "failure", "failures", "failed", "rejected", "violations",
        "constraintviolations", "invalidfields", "invalidparams", "invalidparameters", "odataerror",
    ]
    /// Names of objects that tell facts about a reply beside its data.
    static let plainHeads: Set<String> = ["meta", "header", "head", "status", "responsestatus", "responseheader"]
    /// The names of the members that an outcome has, and that tell nothing of an object.
    static let plainMembers: Set<String> = plainFlags.union(plainCodes).union(plainMessages)
        .union(plainErrors).union((statusCodes + identities).map(plain)).union([
            "fault", "faultcode", "faultstring", "exception", "exceptionmessage", "exceptiontype", "stacktrace",
            "trace",
            "errorid", "errorlink", "errorcauses", "instance", "object", "errordescription", "detail", "details",
            "reason", "description", "title", "type",
            "timestamp", "time", "servertime", "logid", "path", "requestid", "traceid", "clientmutationid", "created",
            "typename",
        ])

    /// Names of lists that have a part for each request of a batch.
    static let plainBatches: Set<String> = [
        "responses", "compositeresponse", "results", "entry", "items", "value", "data", "operations", "parts",
    ]
    /// Names of objects in such a part that have its status.
    static let plainActions: Set<String> = ["response", "result", "create", "index", "update", "delete"]
    /// The names of the members that such a part has.
    static let plainPartMembers: Set<String> = plainMembers.union(plainActions).union(partStatuses.map(plain)).union([
        "body", "headers", "httpheaders", "referenceid", "contentid", "atomicitygroup", "outcome", "statustext",
        "statusmessage", "reasonphrase", "method", "url", "fullurl", "resource", "location", "etag",
    ])

    /// Returns a name in small letters and without separators.
    static func plain(_ name: String) -> String { name.lowercased().filter(\.isLetter) }

    // MARK: Values

    /// Whether a member is a flag that says that something failed.
    static func isFalseFlag(_ name: String, _ value: JSONTree) -> Bool {
        (value == .bool(false) || value.text?.lowercased() == "false") && plainFlags.contains(plain(name))
    }

    /// Whether a member is a state that says that something failed.
    ///
    /// - Parameter isForeign: Whether no record has a member of that name, so that further names tell a state.
    static func isFailedState(_ name: String, _ value: JSONTree, isForeign: Bool = false) -> Bool {
        let name = plain(name)
        guard name == "status" || isForeign && ["result", "stat", "state"].contains(name) else { return false }
        return value.text.map { failedStates.contains($0.lowercased()) } ?? false
    }

    /// Whether a member holds a code of HTTP that is a success's.
    static func isSuccessCode(_ name: String, _ code: Int?) -> Bool {
        name.lowercased().hasSuffix("code") && code.map { (200..<300).contains($0) } ?? false
    }

    /// Texts that say that all is well, as ``word(_:)`` returns them.
    private static let allClears: Set<String> = successes.union([
        "noerror", "noerrors", "nofault", "ok", "okay", "done",
    ])
    /// Texts in the place of an error that say that there is none.
    ///
    /// Elsewhere, those beside the all-clears say nothing.
    private static let nothings: Set<String> = allClears.union(["", "false", "na", "nil", "none", "null"])
    /// States of what failed.
    static let failedStates: Set<String> = ["error", "fail", "failed", "failure"]
    /// Parts of codes such as `REQUEST_DENIED` and `OVER_QUERY_LIMIT`.
    private static let failures = [
        "error", "fail", "denied", "invalid", "unauthorized", "forbidden", "over_", "exceeded",
    ]

    /// Whether a text in the place of an error, or inside of one, says that there is none.
    static func isNone(_ text: String) -> Bool {
        // Longer texts tell something.
        guard text.utf8.count <= 40 else { return false }
        let word = word(text)
        return nothings.contains(word) || isZeros(word)
    }

    /// Whether the text of an error itself says that there is none.
    static func isNoError(_ text: String) -> Bool { text.lowercased() == "no" || isNoErrorInside(text) }

    /// Whether a text inside of an error says that there is none.
    ///
    /// There, "no" may be a reason.
    static func isNoErrorInside(_ text: String) -> Bool {
        if isNone(text) { return true }
        let (all, rest) = (split(text), words(text))
        return rest.count < all.count
            && rest.allSatisfy { ["found", "occurred", "reported", "were", "was"].contains($0) }
    }

    /// Whether a code is an all-clear: none, or zeros behind a few letters, such as `E0000`.
    static func isClear(code text: String) -> Bool {
        guard text.utf8.count <= 40 else { return false }
        let word = word(text)
        let digits = word.drop { $0.isLetter }
        return nothings.contains(word) || isZeros(digits) && word.count - digits.count <= 3
    }

    /// Whether a code says by itself that something failed, such as `E001` and `REQUEST_DENIED`.
    static func isFailed(code text: String) -> Bool {
        let word = text.lowercased()
        let isNumbered = word.first == "e" && word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
        return !isClear(code: text) && (isNumbered || hasFailure(text))
    }

    /// Whether the name of a type says that its objects are errors, such as `ValidationError`.
    static func isErrorType(_ name: String) -> Bool {
        ["Error", "Errors", "Exception", "Failure", "Fault"].contains(where: name.hasSuffix)
    }

    /// Returns the words of a code such as `RECORD_LOCKED` or `recordLocked` in small letters.
    static func words(code text: String) -> [String] {
        var words = [""]
        var wasSmall = false
        for letter in text.prefix(100) {
            if !letter.isLetter || wasSmall && letter.isUppercase { words.append("") }
            if letter.isLetter { words[words.count - 1] += letter.lowercased() }
            wasSmall = letter.isLowercase
        }
        return words
    }

    /// Whether a state or a code has a part that names a failure.
    static func hasFailure(_ text: String) -> Bool {
        guard text.utf8.count < 40 else { return false }
        let word = text.lowercased()
        let letters = word.filter(\.isLetter)
        return !["noerror", "withouterror"].contains(where: letters.contains)
            && failures.contains(where: word.contains)
    }

    private static func word(_ text: String) -> String {
        text.lowercased().filter { $0.isLetter || $0.isNumber || !$0.isASCII }
    }

    private static func isZeros(_ word: some Collection<Character>) -> Bool {
        !word.isEmpty && word.allSatisfy { $0 == "0" }
    }

    // MARK: Messages

    private static let successes: Set<String> = ["success", "successful", "successfully", "succeeded"]
    /// Words that deny a success.
    private static let denials: Set<String> = ["not", "no", "never", "cannot", "unable", "nothing", "none", "false"]
    /// Parts of words that deny it; Chinese has no spaces between words.
    private static let denialParts = [
        "n't", "n’t", "fail", "error", "invalid", "denied", "forbid", "unauth", "reject", "refus", "partial", "不", "未",
        "失", "错",
    ]
    /// Words beside which a success may be that of another request, of a part of this one, or a condition.
    private static let doubts: Set<String> = [
        "but", "however", "except", "though", "although", "some", "by", "another", "someone", "already", "before",
        "first", "must", "should", "please", "expired", "missing", "required", "locked", "suspended", "blocked",
        "banned", "revoked", "disabled", "inactive", "deactivated", "unavailable", "maintenance", "timeout",
        "incomplete", "pending", "queued", "wait", "retry", "later", "throttled", "throttling", "limit", "limits",
        "limited", "quota", "exhausted", "too", "only", "can", "could", "may", "would", "if", "until", "while",
        "since", "being", "need", "needs", "to",
    ]

    /// Whether a message says, in each of its parts, that the request was carried out.
    ///
    /// - Parameter verbs: Words that say so of this request, such as `updated`.
    static func saysSuccess(_ message: String, verbs: Set<String> = []) -> Bool {
        let parts = message.prefix(300).split { ",;，；。".contains($0) }
        return !parts.isEmpty && parts.allSatisfy { isSuccess(String($0), verbs) }
    }

    private static func isSuccess(_ part: String, _ verbs: Set<String>) -> Bool {
        if part.utf8.count <= 40, allClears.contains(word(part)) { return true }
        let words = words(part)
        let isDoubtful = words.contains { word in
            denials.contains(word) || doubts.contains(word) || denialParts.contains(where: word.contains)
        }
        guard !isDoubtful else { return false }
        return words.contains { successes.contains($0) || verbs.contains($0) || $0.contains("成功") }
    }

    private static func split(_ message: String) -> [Substring] {
        message.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "’") }
    }

    /// Returns the words of a message without those that deny an error, such as `no errors`.
    private static func words(_ message: String) -> [String] {
        var words: [String] = []
        for word in split(message) {
            if let last = words.last, ["no", "without", "0", "zero"].contains(last),
                ["error", "fail", "warning"].contains(where: word.hasPrefix)
            {
                words.removeLast()
            } else {
                words.append(String(word))
            }
        }
        return words
    }
}

extension ReplySurvey {
    /// Whether the object at a path holds more than an all-clear, such as `{"code": 0, "message": ""}` or a code of 200.
    func holdsError(at path: String) -> Bool {
        findings.contains { finding in
            guard finding.path.isPath(inside: path) else { return false }
            switch finding.value {
            case .missing, .null: return false
            // The survey may not reach what is in it.
            case .object: return true
            case .bool(let flag): return flag
            case .number(let text), .text(let text):
                return !OutcomeWords.isSuccessCode(finding.path, finding.value.integer)
                    && !OutcomeWords.isNoErrorInside(text)
            case .array(let first): return !first.isEmpty
            }
        }
    }
}
