import Foundation
import Model
import Testing

@Suite struct ConfigurationSchemaTests {
    /// Python's reference validator: another implementation than ours has to agree.
    private static let validator = """
        import json, sys, jsonschema
        given = json.load(sys.stdin)
        jsonschema.Draft202012Validator.check_schema(given["schema"])
        validator = jsonschema.Draft202012Validator(given["schema"])
        json.dump({name: [e.json_path + ": " + e.message for e in validator.iter_errors(document)]
                   for name, document in given["documents"].items()}, sys.stdout)
        """

    @Test func `an editor has a text for each member`() throws {
        let schema = try JSONSerialization.jsonObject(
            with: Data(ConfigurationSchema.json(plugins: try InvalidConfiguration.shippedPlugins()).utf8))
        var bare: [String] = []
        var count = 0
        func scan(_ value: Any, _ path: String) {
            if let list = value as? [Any] {
                for (index, element) in list.enumerated() { scan(element, "\(path)[\(index)]") }
            }
            guard let object = value as? [String: Any] else { return }
            // What a condition asks of members is told where these are declared. One that any value meets says only how
            // numbers are read.
            let alternatives = object["anyOf"] as? [Any] ?? []
            let isOpen = alternatives.contains { $0 as? Bool == true }
            for (key, value) in object where !["if", "then", "else", "allOf", "not"].contains(key) {
                if key != "anyOf" || !isOpen { scan(value, "\(path)/\(key)") }
            }
            for (name, member) in object["properties"] as? [String: Any] ?? [:] {
                guard let member = member as? [String: Any], member["const"] == nil || path.isEmpty else { continue }
                count += 1
                if member["description"] == nil { bare.append("\(path)/\(name)") }
            }
        }
        scan(schema, "")
        #expect(bare.sorted() == [] && count > 200)
    }

    private static let hasValidator = (try? run(["-c", "import jsonschema"], input: Data())) != nil

    struct Failure: Error { var status: Int32 }

    private static func run(_ arguments: [String], input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        // A file, not a pipe: the input may be larger than a pipe holds.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("schema-\(UUID()).json")
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return data
    }

    /// The faults that Python's validator finds in each document.
    private func faults(_ documents: [String: String], plugins: [PluginSchema]) throws -> [String: [String]] {
        var values: [(key: String, value: ConfigValue)] = []
        for (name, text) in documents {
            values.append((name, try #require(ConfigurationFile(text: text, path: "bmo.yml").value)))
        }
        let schema = try ConfigValue(json: ConfigurationSchema.json(plugins: plugins))
        let input = ConfigValue.object([("schema", schema), ("documents", .object(values))]).json
        let output = try Self.run(["-c", Self.validator], input: Data(input.utf8))
        return try JSONDecoder().decode([String: [String]].self, from: output)
    }

    @Test(.enabled(if: hasValidator, "python3 cannot import jsonschema: install the package to run this test"))
    func `another validator accepts the sample and the templates`() throws {
        let plugins = try InvalidConfiguration.shippedPlugins()
        let valid = [
            "sample": try ConfigurationFileTests.sample(), "identity": IdentityConfigurationTests.everything,
            "init": ConfigurationTemplate.commented(),
            "demo": try InvalidConfiguration.demonstration,
            "secrets":
                "version: 1\nbridges: {a: {plugin: rest, options: {url: {env: URL}, auth: {type: bearer, token: {file: t}}}}}\n"
                + "entities:\n",
        ]
        #expect(try faults(valid, plugins: plugins).filter { !$0.value.isEmpty } == [:])
        #expect(try faults(valid, plugins: []).filter { !$0.value.isEmpty } == [:])
    }

    @Test(.enabled(if: hasValidator, "python3 cannot import jsonschema: install the package to run this test"))
    func `another validator refuses what is invalid in its structure`() throws {
        let plugins = try InvalidConfiguration.plugins(in: InvalidConfiguration.root)
        var invalid: [String: String] = [:]
        for fixture in InvalidConfiguration.all {
            let text = try fixture.text
            if text.hasPrefix("# Structure. ") { invalid[fixture.testDescription] = text }
        }
        #expect(invalid.count >= 10)
        let faults = try faults(invalid, plugins: plugins)
        #expect(faults.filter { $0.value.isEmpty }.keys.sorted() == [])
    }

    /// The file holds the schema for the plugins of `Fixtures/config`; a deliberate change writes it again, with
    /// `BMO_UPDATE=1`.
    @Test func `the published schema changes only deliberately`() throws {
        let file = InvalidConfiguration.root.appendingPathComponent("schema.json")
        let plugins = try InvalidConfiguration.plugins(in: InvalidConfiguration.root)
        let schema = Data(ConfigurationSchema.json(plugins: plugins).utf8)
        if ProcessInfo.processInfo.environment["BMO_UPDATE"] == "1" { try schema.write(to: file) }
        // The order of members does not count.
        let published = try #require(JSONSerialization.jsonObject(with: schema) as? NSDictionary)
        let known = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? NSDictionary)
        #expect(published == known)
    }

    @Test func `a plugins references lead to its own definitions`() throws {
        let plugins = try InvalidConfiguration.plugins(in: InvalidConfiguration.root)
        let schema = try ConfigValue(json: ConfigurationSchema.json(plugins: plugins))
        let size = schema["$defs"]?["rest.entity"]?["$defs"]?["size"]
        #expect(size?["maximum"] == 10000)
        let paging = schema["$defs"]?["rest.entity"]?["properties"]?["paging"]?["oneOf"]?.array?.first
        #expect(paging?["properties"]?["size"]?["$ref"] == "#/$defs/rest.entity/$defs/size")
        // A secret, or the empty text that is none.
        let password = schema["$defs"]?["smb.options"]?["properties"]?["password"]?["anyOf"]?.array
        #expect(password?.first?["$ref"] == "#/$defs/secret" && password?.last?["const"] == "")
    }

    @Test func `a plugin with a faulty schema takes anything`() throws {
        let plugin = PluginSchema(name: "odd", optionsSchema: "{", entitySchema: #"{"type": 1}"#)
        let schema = try ConfigValue(json: ConfigurationSchema.json(plugins: [plugin]))
        #expect(schema["$defs"]?["odd.options"] == true && schema["$defs"]?["odd.entity"] == true)
    }
}

@Suite struct ConfigurationTemplateTests {
    @Test func `the template is valid as it is`() throws {
        let configuration = try ConfigurationFileTests.load(
            ConfigurationTemplate.commented(database: "my data.sqlite", url: "https://api.example.com/v1?x='y'"))
        #expect(configuration.databasePath == "/srv/x/my data.sqlite")
        #expect(configuration.bridges[0].options["url"] == "https://api.example.com/v1?x='y'")
        #expect(configuration.model.entities.map(\.name) == ["Author", "Article"])
    }

    @Test func `the template is valid with its comments opened`() throws {
        let opened = ConfigurationTemplate.commented().split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                let isExample = line.firstMatch(of: #/^ +# /#) != nil && !line.contains("secret is never")
                return isExample ? line.replacing("# ", with: "", maxReplacements: 1) : line
            }.joined(separator: "\n")
        let configuration = try ConfigurationFileTests.load(opened, plugins: InvalidConfiguration.shippedPlugins())
        #expect(configuration.bridges.map(\.plugin) == ["rest", "soap", "smb"])
        #expect(configuration.model.entities.map(\.name) == ["Author", "Article", "Region", "Document"])
    }

    @Test func `the demonstration is valid`() throws {
        let configuration = try ConfigurationFileTests.load(
            InvalidConfiguration.demonstration, plugins: InvalidConfiguration.shippedPlugins())
        #expect(
            configuration.model.entities.map(\.name)
                == ["Country", "Currency", "Language", "Subdivision", "Document", "CountryName"])
        let country = try #require(configuration.model.entity(named: "Country"))
        for relationship in country.relationships {
            let storage = configuration.model.storage(of: relationship, in: country)
            #expect(storage == .inverse(entity: relationship.target, relationship: "country"))
        }
    }
}
