import ImportTestSupport
import Mapping
import Model
import SQLiteStore
import StoreContract
import Testing

@Suite struct SameValueTests {
    @Test(arguments: [("1.50", "1.5", true), ("2.0", "2", true), ("-0.10", "-0.1", true), ("10", "1", false)])
    func `decimals are the same by value, and texts only as they are`(
        left: String, right: String, isSame: Bool
    ) {
        #expect(StoredValue.text(left).isSame(as: .text(right), .decimal) == isSame)
        #expect(!StoredValue.text(left).isSame(as: .text(right), .text))
    }
}
