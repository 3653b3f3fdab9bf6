import StoreContract
import Testing

@testable import WebPage

/// What a page says of an error.
@Suite struct PageFaultTests {
    @Test func `a page does not name an option of the commands`() {
        let busy = StoreError(.busy, "x is being written by y", remedy: "wait until it ends, or use --wait")
        let words = PageFault.words(busy)
        #expect(words.status == 503 && words.text == "x is being written by y; wait until it ends")
    }
}
