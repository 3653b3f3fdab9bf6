/// The flags that are true where a search ended early, such as those of GitHub, Google Drive and Solr.
enum EarlyEndFlags {
    /// Those that a reply has at its root, by their paths.
    static let ofReplies: Set<String> = [
        "$.timed_out", "$.timedOut", "$.incomplete_results", "$.incompleteResults", "$.incompleteSearch",
        "$.partialResults", "$.responseHeader.partialResults",
    ]
    /// Names that may also be an attribute of some object, so that they count in the objects around the list only.
    private static let aroundLists = ["incomplete", "partial", "is_partial", "isPartial"]

    /// Returns the paths of the flags in an object around the list.
    static func paths(around home: String) -> [String] { aroundLists.map { ReplySurvey.member(home, $0) } }
}
