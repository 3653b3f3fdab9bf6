import Model
import TestSupport
import Testing

@Suite struct HostileConfigurationTests {

    @Test func `broken files give faults inside the file`() throws {
        let sample = Array(try ConfigurationFileTests.sample().unicodeScalars)
        let pieces: [String] = [
            "\t", ":", "- ", "[", "]", "{", "}", "&a ", "*a", "!", "\"", "'", "|", "\n", "  ", "#", "\u{E9}", "<<: ",
        ]
        var generator = SplitMix64(seed: 1)
        var faulty = 0
        for _ in 0..<400 {
            var text = sample
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let at = Int.random(in: 0..<text.count, using: &generator)
                if Bool.random(using: &generator) {
                    text.removeSubrange(at..<min(text.count, at + Int.random(in: 1...4, using: &generator)))
                } else {
                    text.insert(
                        contentsOf: Array((pieces.randomElement(using: &generator) ?? "").unicodeScalars), at: at)
                }
            }
            var broken = String.UnicodeScalarView()
            broken.append(contentsOf: text)
            let lines = String(broken).split(separator: "\n", omittingEmptySubsequences: false).count
            do {
                _ = try ConfigurationFileTests.load(String(broken))
            } catch let errors as ConfigurationErrors {
                faulty += 1
                #expect(!errors.diagnostics.isEmpty)
                for diagnostic in errors.diagnostics {
                    #expect((1...lines + 1).contains(diagnostic.location.line), "\(diagnostic)")
                    #expect(diagnostic.location.column >= 1, "\(diagnostic)")
                }
            }
        }
        #expect(faulty > 100)
    }

    @Test(arguments: ["[", "{", "[{", "- ", "a: {", "? ", "&a [", "!!seq ["])
    func `deep nesting is refused early`(_ piece: String) throws {
        let text = String(repeating: piece, count: 200_000 / piece.utf8.count)
        let errors = try #require(throws: ConfigurationErrors.self) { try ConfigurationFileTests.load(text) }
        #expect(errors.description.contains("nest"), "\(errors)")
    }

    @Test func `many values are refused`() throws {
        let text = "version: [" + String(repeating: "1,", count: 200_000) + "]"
        let errors = try #require(throws: ConfigurationErrors.self) { try ConfigurationFileTests.load(text) }
        #expect(errors.description.contains("more than 100,000 values"))
    }

    @Test func `a merge bomb is refused`() throws {
        var text = "a0: &a0 {x0: 1, y0: 1}\n"
        for level in 1..<40 {
            text +=
                "a\(level): &a\(level) {<<: [*a\(level - 1), *a\(level - 1)], k: [*a\(level - 1), *a\(level - 1)]}\n"
        }
        let errors = try #require(throws: ConfigurationErrors.self) { try ConfigurationFileTests.load(text) }
        #expect(errors.description.contains("more than 100,000 values"))
    }

    @Test func `long names are shortened and control characters escaped`() throws {
        let text = "version: 1\nbridges:\nentities:\n\"\\e[31m\(String(repeating: "x", count: 900))\": 1\n"
        let errors = try #require(throws: ConfigurationErrors.self) { try ConfigurationFileTests.load(text) }
        #expect(errors.description.count < 300)
        #expect(errors.description.contains("\\u{1b}[31mxxx"))
    }

    @Test func `a schema that branches without end is the fault of its plugin`() throws {
        // Three alternatives at each of twenty levels: 3^20 ways to read one value.
        let definitions = (0..<20).map { level in
            let next = level == 19 ? #"{"const": 1}"# : ##"{"$ref": "#/$defs/d\##(level + 1)"}"##
            return #""d\#(level)": {"anyOf": [\#(next), \#(next), \#(next)]}"#
        }
        let schema = ##"{"$ref": "#/$defs/d0", "$defs": {\##(definitions.joined(separator: ","))}}"##
        let plugin = PluginSchema(name: "odd", optionsSchema: schema, entitySchema: "")
        let errors = try #require(throws: ConfigurationErrors.self) {
            try ConfigurationFile.load(
                text: "version: 1\nbridges: {a: {plugin: odd, options: {x: 2}}}\nentities:\n", path: "bmo.yml",
                plugins: [plugin])
        }
        #expect(errors.description.contains("the schema of the plugin \"odd\" has no end"), "\(errors)")
    }
}
