/// The flags that are true where a search ended early, such as those of GitHub, Google Drive and Solr.
enum EarlyEndFlags {
    /// Their paths, which are read in each reply.
    static let paths: Set<String> = [
        "$.timed_out", "$.timedOut", "$.incomplete_results", "$.incompleteResults", "$.incompleteSearch",
        "$.incomplete", "$.partial", "$.is_partial", "$.isPartial", "$.partialResults",
        "$.responseHeader.partialResults",
    ]
}
