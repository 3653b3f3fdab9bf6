import Model
import Testing

@testable import BMO

/// Options of a command line, which are texts, as a bridge's schema wants them.
@Suite struct IntrospectionOptionsTests {
    private let schema = """
        {"type": "object", "properties": {"port": {"type": "integer"}, "ratio": {"type": "number"},
        "deep": {"type": "boolean"}, "name": {"type": "string"}}}
        """

    @Test(arguments: [
        ("port", "8080", ConfigValue.int(8080)), ("port", "x", .string("x")), ("ratio", "2", .int(2)),
        ("deep", "true", .bool(true)), ("deep", "yes", .string("yes")), ("name", "12", .string("12")),
        ("other", "12", .string("12")),
    ])
    func `a text becomes what the schema wants`(name: String, text: String, value: ConfigValue) {
        let typed = IntrospectionOptions.typed([(name, .string(text))], by: schema)
        #expect(typed.map(\.value) == [value])
    }
}
