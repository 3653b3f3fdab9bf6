internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// A message in a reply to a change whose severity says that the change was not made, such as those of FHIR's
/// OperationOutcome (HL7 FHIR R4, section 2.36).
struct IssueReport {
    /// The path of the severity in the reply.
    let path: String
    /// The severity.
    let value: String
    /// The remote's message, if there is one.
    let words: String?
    /// Whether the change may have been made: the format of the list is not known.
    let isUnclear: Bool

    private static let lists: Set<String> = ["messages", "issues", "notifications", "alerts"]
    private static let severities: Set<String> = ["severity", "type", "level", "messagetype"]

    /// - Parameter root: The reply.
    init?(_ root: JSONTree) {
        let isReport = Self.isReport(root)
        for (list, value) in root.members
        where isReport ? list == "issue" : Self.lists.contains(OutcomeWords.plain(list)) {
            for (index, issue) in (value.elements ?? []).enumerated() {
                guard let severity = issue.members.first(where: { Self.isSevere($0.name, $0.value) }) else { continue }
                path = ReplySurvey.member("\(ReplySurvey.member("$", list))[\(index)]", severity.name)
                self.value = severity.value.json
                words = Self.words(issue)
                isUnclear = !isReport
                return
            }
        }
        return nil
    }

    /// Whether a reply consists of messages about a request, and has no object.
    static func isReport(_ root: JSONTree) -> Bool { root["resourceType"]?.text == "OperationOutcome" }

    /// Returns the message of an issue.
    static func words(_ issue: JSONTree) -> String? {
        let texts = [issue["diagnostics"], issue["details"]?["text"]].compactMap { $0?.text }
        return texts.first { !$0.isEmpty } ?? FailedChange.message(issue) ?? issue["text"]?.text ?? issue["code"]?.text
    }

    private static func isSevere(_ name: String, _ value: JSONTree) -> Bool {
        guard severities.contains(OutcomeWords.plain(name)), let word = value.text?.lowercased() else { return false }
        return word == "fatal" || OutcomeWords.failedStates.contains(word)
    }
}
