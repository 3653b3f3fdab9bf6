import Mapping
import Testing

/// Decimals are ordered by all their digits.
@Suite struct DecimalOrderTests {
    /// Each is less than the next.
    private static let rising = [
        "", "+1", ".5", "1.2.3", "1e3", "x", "-1\(String(repeating: "0", count: 400))", "-12345678901234567891",
        "-12345678901234567890", "-10", "-9.5", "-9", "-0.10000000000000000001", "-0.1", "0", "0.00000000000000000001",
        "0.1", "0.10000000000000000001", "0.11", "0.2", "9", "9.5", "10", "10.05", "10.5", "12345678901234567890",
        "12345678901234567890.1", "12345678901234567891", "1\(String(repeating: "0", count: 400))",
    ]

    @Test func `every digit counts`() {
        for (place, left) in Self.rising.enumerated() {
            for (other, right) in Self.rising.enumerated() {
                let order = DecimalOrder.compare(left, right)
                #expect(order.signum() == (place - other).signum(), "\(left) and \(right)")
            }
        }
    }

    @Test(arguments: [
        ("9.5", "9.50"), ("10", "10.000"), ("10", "10."), ("0", "0.00"), ("0", "-0"), ("0", "-0.0"), ("7", "007"),
        ("-1.5", "-1.500"),
    ])
    func `zeros that say nothing do not count`(left: String, right: String) {
        #expect(DecimalOrder.compare(left, right) == 0)
        #expect(DecimalOrder.compare(right, left) == 0)
    }

    @Test(arguments: [
        (StoredValue.text("1e3"), "1000"), (.text("-0.50"), "-0.5"), (.integer(7), "7"), (.text("x"), "x"),
        (.real(0.1), "0.1"), (.real(1e21), "1000000000000000000000"), (.decimal("9.50"), "9.5"),
        (.text("1e399"), "1" + String(repeating: "0", count: 399)),
    ])
    func `a value is compared as the decimal that it is`(value: StoredValue, expected: String) {
        #expect(value.asDecimal.form == .text(expected))
    }
}
