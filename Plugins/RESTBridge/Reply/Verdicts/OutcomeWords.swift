/// The names and words in which replies say how a request ended, each meaning once.
enum OutcomeWords {
    // MARK: Names

    /// Names of flags that are false after a failure.
    static let flags = ["success", "Success", "ok", "succeeded", "isSuccess", "IsSuccess", "successful"]
    /// Names of members that hold a status of HTTP.
    static let statusCodes = ["status", "statusCode", "status_code"]
    /// Names of members that hold the code of an error: any but an all-clear is one.
    static let errorCodes = ["errcode", "errno", "error_code", "errorCode", "ErrorCode", "errCode", "err_code"]
    /// Names of members that hold the code of a result, which may be a success's.
    static let resultCodes = [
        "retcode", "ret_code", "ResultCode", "resultCode", "result_code", "return_code", "returnCode",
    ]
    /// Names of members that identify an object; replies about a failure lack them.
    static let identities = ["id", "Id", "ID", "_id", "uuid", "gid", "sid", "guid", "key"]

    /// The names of flags and of codes, for comparison with ``plain(_:)``.
    static let plainFlags = Set(flags.map(plain))
    static let plainCodes = Set((["code"] + errorCodes + resultCodes).map(plain))

    /// Returns a name in small letters and without separators.
    static func plain(_ name: String) -> String { name.lowercased().filter(\.isLetter) }

    // MARK: Values

    /// Texts in the place of an error that say that there is none, as ``word(_:)`` returns them.
    private static let nothings: Set<String> = [
        "", "false", "na", "nil", "none", "null", "noerror", "noerrors", "nofault", "ok", "okay", "success",
        "successful", "successfully", "succeeded", "done",
    ]
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

    /// Words that say that a request was carried out, whatever it was.
    private static let ends: Set<String> = [
        "ok", "okay", "done", "saved", "stored", "completed", "processed", "accepted", "applied",
    ]
    /// Parts of words that say so in several languages.
    private static let successes = ["succ", "suces", "éxito", "exitos", "erfolg", "успе", "成功", "성공"]
    /// Words, and parts of words, that deny it.
    private static let denials: Set<String> = [
        "not", "no", "never", "cannot", "unable", "nothing", "none", "false", "nicht", "kein", "keine", "ohne", "sin",
        "sans", "pas", "non", "не",
    ]
    private static let denialParts = [
        "n't", "n’t", "unsucc", "insucc", "fail", "error", "invalid", "denied", "forbid", "unauth", "reject",
        "refus", "partial", "fehl", "неусп", "不", "未", "失", "错", "실패",
    ]
    /// Words beside which another word may be that of a condition, or of another's change.
    private static let doubts: Set<String> = [
        "by", "another", "someone", "already", "before", "first", "must", "should", "please", "expired", "missing",
        "required", "locked", "too", "only", "can", "could", "may", "would", "if", "until", "while", "since", "being",
        "need", "needs", "to",
    ]

    /// Whether a message says that the request was carried out.
    ///
    /// - Parameter verbs: Words that say so of this request, such as `updated`.
    static func saysSuccess(_ message: String, verbs: Set<String> = []) -> Bool {
        if isNone(message) { return true }
        let words = words(message)
        let isDenied = words.contains { word in
            denials.contains(word) || denialParts.contains(where: word.contains)
        }
        guard !isDenied else { return false }
        return words.contains { word in successes.contains(where: word.contains) }
            || !words.contains(where: doubts.contains) && words.contains { ends.contains($0) || verbs.contains($0) }
    }

    /// Returns the words of a message without those that deny an error, such as `no errors`.
    private static func words(_ message: String) -> [String] {
        let all = message.prefix(300).lowercased().split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "’") }
        var words: [String] = []
        for word in all {
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
            let isCode = finding.path.lowercased().hasSuffix("code")
            switch finding.value {
            case .missing, .null: return false
            // The survey may not reach what is in it.
            case .object: return true
            case .bool(let flag): return flag
            case .number(let text), .text(let text):
                if isCode, let code = finding.value.integer, (200..<300).contains(code) { return false }
                return !OutcomeWords.isNone(text)
            case .array(let first): return !first.isEmpty
            }
        }
    }
}

/// Messages in place of the records of a listing, for which a wrong success would delete rows.
extension OutcomeWords {
    /// Words that say that a request succeeded.
    private static let fullSuccesses: Set<String> = [
        "success", "successful", "successfully", "succeeded", "succès", "éxito", "exitosa", "exitoso", "exitosamente",
        "sucesso", "erfolg", "erfolgreich", "успех", "успешно",
    ]
    /// The same in languages without spaces, or with endings.
    private static let successParts = ["成功", "성공"]
    /// Words of another end beside a success, such as that of a login.
    private static let hazards: Set<String> = [
        "but", "however", "except", "though", "although", "some", "pending", "queued", "wait", "retry", "later",
        "limit", "limits", "limited", "throttled", "throttling", "quota", "exhausted", "suspended", "disabled",
        "blocked", "banned", "revoked", "inactive", "deactivated", "unavailable", "maintenance", "timeout",
        "incomplete",
    ]

    /// Whether a message says that a listing succeeded, each part of it and without a condition.
    static func saysListed(_ message: String) -> Bool {
        if isNone(message) { return true }
        let parts = message.split { ",;，；。".contains($0) }
        return message.utf8.count <= 300 && !parts.isEmpty && parts.allSatisfy { isNone($0.description) || isFull($0) }
    }

    private static func isFull(_ part: Substring) -> Bool {
        let words = words(String(part))
        let isDoubtful = words.contains { word in
            denials.contains(word) || doubts.contains(word) || hazards.contains(word)
                || denialParts.contains(where: word.contains)
        }
        return !isDoubtful
            && words.contains { fullSuccesses.contains($0) || successParts.contains(where: $0.contains) }
    }
}
