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

    @Test(arguments: [
        ("null", nil, true), ("{}", nil, false), ("1e2", "100.0", true), ("1", "\"1\"", false),
        ("[1,2]", "[2,1]", false),
        (#"{"a":1.0,"b":[1e2,"x"]}"#, #"{"b": [100, "x"], "a": 1}"#, true), (#"{"a":1}"#, #"{"a":1,"b":null}"#, false),
        (#"{"a":1}"#, #"{"a":2}"#, false), ("true", "false", false), ("1e9999", "1e9999", true),
        ("\"\u{E9}\"", "\"e\u{301}\"", false), ("9007199254740993", "9007199254740992", false), ("1", "x", false),
    ])
    func `JSON is the same by value`(left: String, right: String?, isSame: Bool) {
        let other = right.map { StoredValue.json($0) } ?? .null
        #expect(StoredValue.json(left).isSame(as: other, .json) == isSame)
        #expect(other.isSame(as: .json(left), .json) == isSame)
    }
}
