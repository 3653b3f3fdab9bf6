import TestSupport
import Testing

@testable import BMO

/// Whether a watch may go on with its configuration, and when it reads the file again.
@Suite struct ConfigurationStateTests {
    private func content(_ text: String, learned: String? = nil) -> ConfigurationContent {
        ConfigurationContent(file: Array(text.utf8), learned: learned.map { Array($0.utf8) })
    }

    @Test func `a change is loaded when it has settled, and nothing goes on until then`() {
        var state = ConfigurationState(content("one"))
        #expect(state.permits(content("one")) && state.look(at: content("one")) == .same)
        #expect(!state.permits(content("two, half")))
        #expect(state.look(at: content("two, half")) == .unsettled)
        #expect(state.look(at: content("two, whole")) == .unsettled)
        #expect(state.look(at: content("two, whole")) == .changed)
        #expect(!state.permits(content("two, whole")), "it was not loaded yet")
    }

    @Test func `work goes on after a change that was refused, until the next one`() {
        var state = ConfigurationState(content("one"))
        _ = state.look(at: content("bad"))
        #expect(state.look(at: content("bad")) == .changed)
        state.refuse(content("bad"))
        #expect(state.permits(content("bad")) && state.isRefused)
        #expect(state.look(at: content("bad")) == .refused)
        #expect(!state.permits(content("good")))
        #expect(state.look(at: content("good")) == .unsettled)
        #expect(state.look(at: content("good")) == .changed)
        #expect(state.look(at: content("one")) == .restored)
        #expect(!state.isRefused && state.look(at: content("one")) == .same)
    }

    @Test func `the learned attributes belong to the configuration, and a missing file is a change`() {
        var state = ConfigurationState(content("one", learned: "a"))
        #expect(!state.permits(content("one", learned: "b")))
        #expect(!state.permits(content("one")))
        let none = ConfigurationContent(file: nil, learned: nil)
        #expect(state.look(at: none) == .unsettled && state.look(at: none) == .changed)
    }

    @Test func `the content of the files counts, not their times`() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("one", to: "bmo.yml")
        let first = ConfigurationContent(path: path)
        #expect(first == content("one"))
        try folder.write("one", to: "bmo.yml")
        #expect(ConfigurationContent(path: path) == first)
        try folder.write("learned", to: "bmo.auto.yml")
        #expect(ConfigurationContent(path: path) == content("one", learned: "learned"))
        #expect(ConfigurationContent(path: folder.path) == ConfigurationContent(file: nil, learned: nil))
    }
}
