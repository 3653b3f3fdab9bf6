internal import Inference

/// The words with which a reply says that nothing failed, or that the listing is empty.
enum AllClear {
    /// Values of an error or a state that mean that there is none.
    private static let none: Set<String> = ["", "none", "null", "nil", "n/a", "-"]
    /// Values of a success.
    private static let successes: Set<String> = [
        "ok", "okay", "success", "successful", "successfully", "succeeded", "200", "s", "e000", "noerror", "no_error",
        "noerrors",
    ]
    /// Values that are those of a success only in a flag or a state.
    private static let confirmations: Set<String> = [
        "true", "1", "yes", "y", "complete", "completed", "done", "finished", "processed", "passed",
    ]
    private static let denials: Set<String> = ["false", "no", "n"]

    /// Returns whether the value of an error means that there is none.
    static func isNone(_ error: String) -> Bool {
        let error = error.lowercased()
        return none.contains(error) || denials.contains(error) || successes.contains(error) || isZero(error)
            || isPhrase(error)
    }

    /// Returns whether a state is that of a success.
    static func isSuccess(_ state: String) -> Bool {
        let state = state.lowercased()
        return successes.contains(state) || confirmations.contains(state) || !state.isEmpty && isZero(state)
            || isPhrase(state)
    }

    /// Returns whether a value says neither success nor failure.
    static func isNothing(_ value: String) -> Bool { none.contains(value.lowercased()) }

    /// Returns whether a flag or a state denies a success.
    static func isDenial(_ value: String) -> Bool { denials.contains(value.lowercased()) }

    /// Returns the value of a flag; nil if it is none.
    static func flag(_ flag: String?) -> Bool? {
        switch flag?.lowercased() {
        case "true", "1", "yes", "y", "t": true
        case "false", "0", "no", "n", "f": false
        default: nil
        }
    }

    private static func isZero(_ text: String) -> Bool { !text.contains { $0 != "0" } }

    // MARK: Phrases

    private static let records: Set<String> = [
        "record", "records", "result", "results", "row", "rows", "item", "items", "entry", "entries", "data", "hit",
        "hits", "element", "elements", "object", "objects", "match", "matches", "matching",
    ]
    private static let troubles: Set<String> = ["error", "errors", "warning", "warnings", "problem", "problems"]
    private static let positives = successes.union(["complete", "completed", "done", "finished", "processed"])
    private static let negations: Set<String> = ["no", "0", "zero", "without"]
    private static let fillers: Set<String> = [
        "found", "were", "was", "is", "are", "be", "the", "a", "for", "your", "this", "that", "which", "query",
        "search", "criteria", "request", "operation", "call", "selection", "filter", "given", "specified", "selected",
        "to", "of", "in", "with", "by", "and", "meet", "meets", "display", "exist", "exists", "there", "returned",
        "list", "set", "has", "have", "been", "nothing", "none", "empty",
    ]

    /// Returns whether a text says in words that the call succeeded, or that there are no records or no errors.
    ///
    /// All its words must be known: what else a text says may be the reason why records are missing.
    static func isPhrase(_ text: String) -> Bool {
        guard text.utf8.count <= 200 else { return false }
        let words = NameWords.lower(text)
        var isClear = false
        for (index, word) in words.enumerated() {
            let previous = index > 0 ? words[index - 1] : ""
            let next = index + 1 < words.count ? words[index + 1] : ""
            if troubles.contains(word) {
                guard negations.contains(previous) || ["0", "none"].contains(next) else { return false }
                isClear = true
            } else if negations.contains(word) {
                let denied = records.contains(next) || troubles.contains(next) || troubles.contains(previous)
                guard denied || word == "0" && (next.isEmpty || positives.contains(next)) else { return false }
                isClear = true
            } else if positives.contains(word) {
                isClear = true
            } else if word == "not" {
                guard next == "found" else { return false }
                isClear = true
            } else {
                guard records.contains(word) || fillers.contains(word) else { return false }
                if ["nothing", "none", "empty"].contains(word) { isClear = true }
            }
        }
        return isClear && words.count > 1
    }
}
