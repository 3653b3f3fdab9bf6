import Foundation
import Model
import Testing
import TestSupport

@Suite struct ConfigurationFileTests {
    /// The sample of docs/configuration.md.
    static func sample() throws -> String {
        let page = InvalidConfiguration.repository.appendingPathComponent("docs/configuration.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "```yaml\n"))
        let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
        return String(text[start.upperBound..<end.lowerBound])
    }

    static func load(
        _ text: String, plugins: [PluginSchema]? = nil, environment: [String: String]? = nil
    ) throws -> Configuration {
        let invented = try InvalidConfiguration.plugins(in: InvalidConfiguration.root)
        return try ConfigurationFile.load(
            text: text, path: "/srv/x/bmo.yml", plugins: plugins ?? invented, environment: environment)
    }

    @Test(arguments: [
        ("process", BridgeConfiguration.Isolation.process), ("child_process", .process), ("in_process", .inProcess),
    ])
    func `where a bridge runs is named in the words of the docs or of the contract`(
        name: String, isolation: BridgeConfiguration.Isolation
    ) throws {
        let configuration = try Self.load(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "https://api.example.com"}, isolation: \(name)}}
            entities: {Thing: {bridge: api, key: id, attributes: {id: text}, rest: {path: /}}}
            """)
        #expect(configuration.bridge(named: "api")?.isolation == isolation)
    }

    @Test(arguments: ["/dev/stdin", "/dev/fd/63", "/proc/self/fd/0", nil])
    func `relative paths in a pipe or a device start in the folder of the process`(path: String?) throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.appending("pipe.yml"), 0o600) == 0)
        let configuration = try ConfigurationFile.load(
            text: """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "https://api.example.com"}}}
                entities: {Thing: {bridge: api, key: id, attributes: {id: text}, rest: {path: /}}}
                """, path: path ?? folder.appending("pipe.yml"),
            plugins: InvalidConfiguration.plugins(in: InvalidConfiguration.root), environment: nil)
        let current = FileManager.default.currentDirectoryPath
        #expect(configuration.databasePath == current + "/bmo.sqlite")
        #expect(configuration.directory == current)
    }

    @Test func `the documented sample is read`() throws {
        let configuration = try Self.load(try Self.sample(), plugins: InvalidConfiguration.shippedPlugins())
        #expect(configuration.version == 1)
        #expect(configuration.databasePath == "/srv/x/bmo.sqlite")
        #expect(configuration.directory == "/srv/x")
        #expect(configuration.bridges.map(\.name) == ["registry", "gazetteer", "files"])
        #expect(configuration.bridges.map(\.plugin) == ["rest", "soap", "smb"])
        #expect(
            configuration.bridge(named: "files")?.options
                == [
                    "url": "smb://127.0.0.1:4450/documents", "user": "demo",
                    "password": .secret(.env("DEMO_SMB_PASSWORD")),
                ])
        let model = configuration.model
        #expect(model.entities.map(\.name) == ["Currency", "Country", "Subdivision", "Document"])
        let country = try #require(model.entity(named: "Country"))
        #expect(country.bridge == "registry" && country.key == ["alpha2"])
        #expect(country.location.description == "/srv/x/bmo.yml:33:3")
        #expect(
            country.attribute(named: "officialName")
                == Attribute(
                    name: "officialName", type: .text, source: .path(RemotePath(["official_name"])),
                    location: SourceLocation(file: "/srv/x/bmo.yml", line: 40, column: 7)))
        #expect(
            country.section == [
                "path": "/countries", "records": "$.items",
                "paging": ["style": "page", "page_parameter": "page", "size_parameter": "per_page", "size": 100],
            ])
        let subdivisions = try #require(country.relationship(named: "subdivisions"))
        #expect(subdivisions.kind == .toMany && subdivisions.target == "Subdivision")
        let inverse = try #require(model.inverse(of: subdivisions, in: country))
        #expect(inverse.entity.name == "Subdivision" && inverse.relationship.name == "country")
        #expect(model.inverse(of: inverse.relationship, in: inverse.entity)?.relationship.name == "subdivisions")
    }

    @Test func `every transformer and constant is read`() throws {
        let configuration = try Self.load(
            """
            version: 1
            database: /var/db/../x.sqlite
            bridges: {b: {plugin: smb, options: {url: smb://h/s}}}
            entities:
              Thing:
                bridge: b
                key: [id, part]
                attributes:
                  id: {type: integer, transform: [trim, {strip_prefix: "0x"}, {base: 16}]}
                  part: {type: text, transform: [lowercase, uppercase, empty_as_null, {prefix: 1.0}]}
                  state: {type: text, transform: {map: {1: active, NO: gone, true: null}}}
                  at: {type: timestamp, transform: {unit: milliseconds}}
                  day: {type: date, from: a\\.b.c, transform: {format: "%d.%m.%Y"}}
                  code: {type: text, constant: 007}
                  rate: {type: real, constant: 1}
                  price: {type: decimal, constant: 1.10}
                  tree: {type: json, constant: {a: [1, x]}}
                relationships:
                  others: {many: Thing, merge: insert_at_beginning, from: links.others}
                smb: {files: x}
            """)
        #expect(configuration.databasePath == "/var/db/../x.sqlite")
        let thing = try #require(configuration.model.entity(named: "Thing"))
        #expect(thing.keyAttributes.map(\.name) == ["id", "part"])
        func transformers(_ name: String) -> [Transformer]? { thing.attribute(named: name)?.transformers }
        #expect(transformers("id") == [.trim, .stripPrefix("0x"), .base(16)])
        #expect(transformers("part") == [.lowercase, .uppercase, .emptyAsNull, .prefix("1.0")])
        #expect(
            transformers("state") == [
                .map([
                    ValueMapping(remote: "1", local: "active"), ValueMapping(remote: "NO", local: "gone"),
                    ValueMapping(remote: "true", local: nil),
                ])
            ])
        #expect(transformers("at") == [.unit(.milliseconds)])
        #expect(transformers("day") == [.format("%d.%m.%Y")])
        #expect(thing.attribute(named: "day")?.source == .path(RemotePath(["a.b", "c"])))
        #expect(thing.attribute(named: "code")?.source == .constant("007"))
        #expect(thing.attribute(named: "rate")?.source == .constant(1.0))
        #expect(thing.attribute(named: "price")?.source == .constant("1.10"))
        #expect(thing.attribute(named: "tree")?.source == .constant(["a": [1, "x"]]))
        let others = try #require(thing.relationship(named: "others"))
        #expect(others.merge == .insertAtBeginning && others.source == RemotePath(["links", "others"]))
        #expect(configuration.model.storage(of: others, in: thing) == .joinTable(name: "Thing_others"))
    }

    @Test func `a value of a map keeps its digits for the next step`() throws {
        let configuration = try Self.load(
            """
            version: 1
            bridges: {b: {plugin: smb, options: {url: smb://h/s}}}
            entities:
              Thing:
                bridge: b
                key: id
                attributes: {id: {type: text, transform: [{map: {a: 007, b: 1.10, c: True, d: 5}}, {prefix: x}]}}
                smb: {files: x}
            """)
        let mappings = [
            ValueMapping(remote: "a", local: "007"), ValueMapping(remote: "b", local: .decimal("1.10")),
            ValueMapping(remote: "c", local: true), ValueMapping(remote: "d", local: 5),
        ]
        let id = configuration.model.entities[0].attribute(named: "id")
        #expect(id?.transformers == [.map(mappings), .prefix("x")])
    }

    @Test func `names that differ by their bytes alone are two names`() throws {
        let configuration = try Self.load(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "https://api.example.com"}}}
            entities:
              Word:
                bridge: api
                key: id
                writable: true
                attributes:
                  id: integer
                  a: {type: text, from: "\\u00e9"}
                  b: {type: text, from: "e\\u0301", transform: {map: {"\\u00e9": x, "e\\u0301": y}}}
                rest: {path: /words, write: {update: {}}}
            """, plugins: InvalidConfiguration.shippedPlugins())
        let word = try #require(configuration.model.entity(named: "Word"))
        let mappings = [ValueMapping(remote: "\u{E9}", local: "x"), ValueMapping(remote: "e\u{301}", local: "y")]
        #expect(word.attribute(named: "b")?.transformers == [.map(mappings)])
    }

    @Test func `an unquoted number is a text where the schema says text`() throws {
        let configuration = try Self.load(
            """
            version: 1
            bridges:
              a:
                plugin: rest
                options: {url: 007, api_version: 1.0, timeout: 1e1, headers: {X: NO, Y: true, Z: {file: z}}}
            entities:
            """)
        #expect(
            configuration.bridges[0].options == [
                "url": "007", "api_version": "1.0", "timeout": 10.0,
                "headers": ["X": "NO", "Y": "true", "Z": .secret(.file("z"))],
            ])
    }

    @Test func `anchors and merge keys are expanded`() throws {
        let configuration = try Self.load(
            """
            version: 1
            bridges: {b: {plugin: smb, options: {url: smb://h/s}}}
            entities:
              One: &one
                bridge: b
                key: id
                attributes: &attributes {id: text, name: text}
                smb: {files: one}
              Two:
                <<: *one
                smb: {files: two}
              Three: {bridge: b, key: id, attributes: *attributes, smb: {files: three}}
            """)
        let entities = configuration.model.entities
        #expect(entities.map { $0.section["files"]?.string } == ["one", "two", "three"])
        #expect(entities.nonEmptyAllSatisfy { $0.attributes.map(\.name) == ["id", "name"] })
    }

    @Test func `without plugins options and sections are taken as they are`() throws {
        let text = """
            version: 1
            bridges: {b: {plugin: imap, options: {port: 993, password: {env: P}}}}
            entities: {Mail: {bridge: b, key: id, attributes: {id: text}, imap: {folder: INBOX, deep: true}}}
            """
        let configuration = try ConfigurationFile.load(text: text, path: "bmo.yml")
        #expect(configuration.bridges[0].options == ["port": 993, "password": .secret(.env("P"))])
        #expect(configuration.model.entities[0].section == ["folder": "INBOX", "deep": true])
    }

    @Test func `a secret whose variable is not set is warned of`() throws {
        let text = try Self.sample()
        let warned = try Self.load(text, environment: [:]).warnings
        #expect(
            warned.map(\.description) == [
                "/srv/x/bmo.yml:13:3: warning: the environment variable DEMO_SMB_PASSWORD of bridge \"files\" is not set; "
                    + "set it before the bridge is used"
            ])
        #expect(try Self.load(text, environment: ["DEMO_SMB_PASSWORD": "x"]).warnings.isEmpty)
    }

    @Test func `secrets that are written out are warned of`() throws {
        let text = """
            version: 1
            bridges:
              b:
                plugin: imap
                options:
                  url: "http://h/?api_key=lit3&page=2"
                  headers: {Authorization: "Bearer literal2", X-Api-Key: {env: P}, Accept: x}
            entities:
              Mail:
                bridge: b
                key: id
                attributes: {id: text}
                imap:
                  path: /x?sort=key
                  headers: {X-My-Api-Key: lit}
                  query: {access_token: literal, key: short, page_token: x, token: "{token}"}
                  body:
                    key: a-long-value-of-a-filter
                    auth: {user: bob, password: lit4}
                    parts: [{api_key: "{api_key}"}, {api_key: lit5}]
            """
        func warnings(_ environment: [String: String]?) throws -> [String] {
            try ConfigurationFile.load(text: text, path: "bmo.yml", environment: environment).warnings.map(
                \.description)
        }
        let found = try warnings(["P": "x"])
        #expect(
            found.map { String($0.prefix(while: { $0 != ";" })) } == [
                "bmo.yml:6:12: warning: \"api_key\" in the query of url of bridge \"b\" looks like a secret in this file",
                "bmo.yml:7:32: warning: \"Authorization\" under headers of bridge \"b\" looks like a secret in this file",
                "bmo.yml:15:31: warning: \"X-My-Api-Key\" under headers of entity \"Mail\" looks like a secret in this file",
                "bmo.yml:16:29: warning: \"access_token\" under query of entity \"Mail\" looks like a secret in this file",
                "bmo.yml:19:37: warning: \"password\" under body of entity \"Mail\" looks like a secret in this file",
                "bmo.yml:20:51: warning: \"api_key\" under body of entity \"Mail\" looks like a secret in this file",
            ])
        #expect(
            found.nonEmptyAllSatisfy { !$0.contains("lit3") && !$0.contains("literal2") && $0.contains("{env: NAME}") })
    }

    @Test func `a file that cannot be read is reported in words`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func message(_ name: String, _ bytes: [UInt8]? = nil) throws -> String {
            let file = folder.appendingPathComponent(name)
            if let bytes { try Data(bytes).write(to: file) }
            let errors = #expect(throws: ConfigurationErrors.self) { try ConfigurationFile.load(path: file.path) }
            return (errors?.description ?? "").replacing(folder.path + "/", with: "")
        }
        #expect(try message("none.yml") == "none.yml: error: the file does not exist; \"bmo init\" writes one")
        #expect(try message("") == folder.path + ": error: the file is a folder; name a file in it")
        #expect(
            try message("empty.yml", [])
                == "empty.yml:1:1: error: the file is empty; \"bmo init\" writes one to start from")
        #expect(try message("comment.yml", Array("# only a comment\n".utf8)).contains("1:1: error: the file is empty"))
        #expect(
            try message("latin1.yml", Array("version: 1\nname: \"gr".utf8) + [0xF6, 0xDF])
                == "latin1.yml:2:10: error: the file is not UTF-8; save it as UTF-8")
        #expect(
            try message("utf16.yml", [0xFF, 0xFE, 0x76, 0])
                == "utf16.yml:1:1: error: the file is UTF-16; save it as UTF-8")
        for mark: [UInt8] in [[0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF]] {
            #expect(
                try message("utf32.yml", mark + [0x76, 0, 0, 0])
                    == "utf32.yml:1:1: error: the file is UTF-32; save it as UTF-8")
        }
        #expect(
            try message("nul.yml", Array("version: 1\nx: \0".utf8))
                == "nul.yml:2:4: error: not valid YAML: control characters are not allowed; remove the character")
        #expect(
            try message("large.yml", [UInt8](repeating: 0x23, count: 1 << 20 + 1))
                == "large.yml: error: the file is larger than 1024 KiB; check that it is the right file")
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("loop.yml"), withDestinationURL: folder.appendingPathComponent("loop.yml")
        )
        #expect(try message("loop.yml").contains("loop.yml: error: the file cannot be read: "))
    }

    @Test(arguments: ["%F %T.%f", "%F %T.%L", "%Q-%m-%d %Y"])
    func `a format with a conversion that cannot be read is a fault, which names it`(format: String) throws {
        let errors = try #require(throws: ConfigurationErrors.self) {
            try Self.load(
                """
                version: 1
                bridges: {b: {plugin: smb, options: {url: smb://h/s}}}
                entities:
                  Thing:
                    bridge: b
                    key: id
                    attributes: {id: integer, at: {type: timestamp, transform: {format: "\(format)"}}}
                    smb: {files: x}
                """)
        }
        let conversion = String(try #require(format.firstMatch(of: /%[fLQ]/)).output)
        #expect(errors.diagnostics.map(\.location.line) == [7])
        let fault = #""format" in "transform" of attribute "at" of entity "Thing" has \#(conversion), which cannot be"#
        #expect(errors.diagnostics.first?.message.hasPrefix(fault) == true)
    }

    @Test func `a byte order mark is not a fault`() throws {
        let configuration = try Self.load("\u{FEFF}version: 1\nbridges:\nentities:\n")
        #expect(configuration.bridges.isEmpty && configuration.model.entities.isEmpty)
    }

    @Test func `a thousand faults are cut to a hundred`() throws {
        let text = "version: 1\nbridges:\nentities:\n" + (0..<1000).map { "k\($0): 1\n" }.joined()
        let errors = try #require(throws: ConfigurationErrors.self) { try Self.load(text) }
        #expect(errors.diagnostics.count == 101)
        #expect(errors.diagnostics.last?.message == "900 more faults are not shown")
    }
}
