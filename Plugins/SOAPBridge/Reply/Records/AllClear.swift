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
        "true", "yes", "y", "complete", "completed", "done", "finished", "processed", "passed",
    ]
    private static let denials: Set<String> = ["false", "no", "n"]

    /// Returns whether the value of an error means that there is none.
    ///
    /// - Parameter names: The words in the name of a record: see ``isPhrase(_:_:)``.
    static func isNone(_ error: String, _ names: Set<String> = []) -> Bool {
        let error = error.lowercased()
        return none.contains(error) || denials.contains(error) || successes.contains(error) || isZero(error)
            || isPhrase(error, names)
    }

    /// Returns whether a state is that of a success: 1 is, unless it is a code.
    static func isSuccess(_ state: String, of name: String = "status", _ names: Set<String> = []) -> Bool {
        let state = state.lowercased()
        return successes.contains(state) || confirmations.contains(state) || !state.isEmpty && isZero(state)
            || state == "1" && FailureSigns.maySayOne(name) || isPhrase(state, names)
    }

    /// Returns whether a state is that of a failure, as a word or as a number: below 0, or an HTTP status.
    static func isFailure(_ state: String) -> Bool {
        let isNumber = Int(state).map { $0 < 0 || (400..<600).contains($0) } ?? false
        return isNumber || ReplyNotice.beginsWithFailure(state) && !isPhrase(state)
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

    /// Returns whether a text is zero, which SharePoint writes as `0x00000000`.
    private static func isZero(_ text: String) -> Bool {
        !(text.hasPrefix("0x") ? text.dropFirst(2) : text[...]).contains { $0 != "0" }
    }

    // MARK: Phrases

    private static let records: Set<String> = [
        "record", "records", "result", "results", "row", "rows", "item", "items", "entry", "entries", "data", "hit",
        "hits", "element", "elements", "object", "objects", "match", "matches",
    ]
    /// What may also be missing, or end a compound about it: "no data set".
    static let others: Set<String> = [
        "set", "list", "query", "search", "criteria", "request", "operation", "call", "selection", "filter", "given",
        "specified",
    ]
    private static let lists: Set<String> = ["list", "set"]
    private static let troubles: Set<String> = ["error", "errors", "warning", "warnings", "problem", "problems"]
    private static let positives = successes.union(["complete", "completed", "done", "finished", "processed"])
    private static let negations: Set<String> = ["no", "0", "zero", "without"]
    private static let beings: Set<String> = ["were", "was", "is", "are", "be", "has", "have", "been"]
    private static let fillers = others.union(beings).union([
        "found", "the", "a", "for", "your", "this", "that", "which", "selected", "to", "of", "in", "with", "by", "and",
        "meet", "meets", "display", "exist", "exists", "there", "returned", "matching",
    ])

    /// Returns whether a text says in words that the call succeeded, or that there are no records or no errors.
    ///
    /// All its words must be known: what else a text says may be the reason why records are missing. So may something
    /// else that is not found, such as a query that has expired.
    ///
    /// - Parameter names: The words, in the singular, in the name of a record.
    static func isPhrase(_ text: String, _ names: Set<String> = []) -> Bool {
        guard text.utf8.count <= 200 else { return false }
        let words = NameWords.lower(text)
        func isRecord(_ word: String?) -> Bool {
            word.map { records.contains($0) || names.contains(NameWords.singular($0)) } ?? false
        }
        /// Returns the last of the nouns that follow: "no data set" is not about data.
        func object(after index: Int) -> String? {
            let rest = words[(index + 1)...].drop { $0 == "matching" }
            let nouns = rest.prefix { isRecord($0) || others.contains($0) }
            // "No records match the query" has a verb.
            return nouns.dropFirst().firstIndex(of: "match").map { nouns[$0 - 1] } ?? nouns.last
        }
        func subject(before index: Int) -> String? { words[..<index].last { !beings.contains($0) } }
        var isClear = false
        for (index, word) in words.enumerated() {
            let previous = index > 0 ? words[index - 1] : ""
            let next = index + 1 < words.count ? words[index + 1] : ""
            if troubles.contains(word) {
                guard negations.contains(previous) || ["0", "none"].contains(next) else { return false }
                isClear = true
            } else if negations.contains(word) {
                let denied =
                    isRecord(object(after: index)) || troubles.contains(next) || troubles.contains(previous)
                guard denied || word == "0" && (next.isEmpty || positives.contains(next)) else { return false }
                isClear = true
            } else if positives.contains(word) {
                isClear = true
            } else if word == "not" {
                guard next == "found", isRecord(subject(before: index)) else { return false }
                isClear = true
            } else if word == "empty" {
                let named = [subject(before: index), object(after: index)]
                guard named.contains(where: { isRecord($0) || lists.contains($0 ?? "") }) else { return false }
                isClear = true
            } else if ["nothing", "none"].contains(word) {
                isClear = true
            } else {
                guard isRecord(word) || fillers.contains(word) else { return false }
            }
        }
        return isClear && words.count > 1
    }
}
