import BridgeJSON
import Testing

@testable import RESTBridge

/// Whether each file of an export has a link.
@Suite struct ExportLinkTests {
    @Test(arguments: [
        ("$.files[*].url", #"{"files": [{"url": "a"}, {"url": "b"}]}"#, false),
        ("$.files[*].url", #"{"files": [{"url": "a"}, {"url": null}]}"#, true),
        ("$.files[*].url", #"{"files": [{"url": "a"}, {"name": "b"}]}"#, true),
        ("$.files[*].url", #"{"files": [{"url": "a"}, {"url": ""}]}"#, true),
        ("$.files[*].url", #"{"files": [{"url": "a"}, null]}"#, true),
        ("$.files[*].url", #"{"files": []}"#, false),
        ("$.files[*].url", #"{"files": null}"#, false),
        ("$.files.*.url", #"{"files": {"a": {"url": "a"}, "b": {}}}"#, true),
        ("$.files", #"{"files": ["a", "b"]}"#, false),
        ("$.files", #"{"files": ["a", null]}"#, true),
        ("$.files", #"{"files": null}"#, false),
        ("$.file", #"{"file": "a"}"#, false),
        ("$.files[?@.state=='ready'].url", #"{"files": [{"state": "ready", "url": "a"}, {"state": "failed"}]}"#, false),
        ("$.files[?@.state=='ready'].url", #"{"files": [{"state": "ready", "url": "a"}, {"state": "ready"}]}"#, true),
        ("$.parts[*].files[*].url", #"{"parts": [{"files": [{"url": "a"}]}, {"files": null}]}"#, false),
        ("$.parts[*].files[*].url", #"{"parts": [{"files": [{"url": "a"}]}, {"files": "busy"}]}"#, true),
        ("$.parts[*].files[*].url", #"{"parts": [{"files": [{"url": "a"}]}, {}]}"#, true),
    ])
    func `an entry without a link is a gap`(path: String, status: String, isGap: Bool) throws {
        let tree = try JSONTree(parsing: Array(status.utf8), what: "the status")
        #expect(tree.hasGap(at: try JSONPath(path, option: "export.files.urls")) == isGap)
    }
}
