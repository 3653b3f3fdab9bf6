import Model
import Testing

/// Inheritance, uniquing, scans and sources as a file says them.
@Suite struct IdentityConfigurationTests {
    /// Every key of this page of the documentation, for the schema's sake.
    static let everything = """
        version: 1
        bridges:
          api:
            plugin: rest
            retry_for: 5m
            hook: {secret: {env: HOOK_SECRET}, signature: X-Signature, timestamp: X-Sent, key: data.id}
            options: {url: "https://api.example.com"}
          files: {plugin: smb, options: {url: "smb://h/s"}}
        entities:
          Media:
            bridge: api
            key: [list, id]
            attributes: {id: integer, list: text, name: {type: text, renamed_from: title}, area: real, at: timestamp}
            relationships:
              owner: {to: User}
              tags: {many: Tag, orphans: delete, ordered: false, renamed_from: labels}
              films: {many: Film, from: films.list, metadata: {total: films.count, next: "Films@next\\\\.link"}}
              parts: {many: Film, merge: {window: at}}
            parent: {relationship: owner, where: ["name != null", "name ~ a%"], concurrency: 2}
            incremental: {field: at, lookback: 5m}
            full_every: 7d
            retry_for: 30s
            deletes: {mode: soft, brake: {share: 20%, rows: 10}, when: [{has: gone}, {property: state, equals: [x, 7]}]}
            extra: true
            renamed_from: Medium
            precedence: [facts, main]
            sources:
              facts: {bridge: files, attributes: {area: real}, each: {where: "area = null", concurrency: 8}, smb: {files: x}}
              more:
                bridge: api
                attributes: {motto: text}
                relationships: {place: {to: Tag}}
                parent: owner
                incremental: token
                retry_for: 10m
                rest: {path: /m}
            rest: {path: /media}
          Film: {extends: Media, when: {property: kind, matches: "^f"}, attributes: {minutes: integer}, renamed_from: Movie}
          Short: {extends: Film, bridge: api, when: {lacks: long}, incremental: token, rest: {path: /shorts}}
          User: {bridge: api, unique: singleton, attributes: {name: text}, deletes: ignore, rest: {path: /me}}
          Log: {bridge: api, unique: none, attributes: {at: timestamp}, rest: {path: /log}}
          Tag: {bridge: api, key: id, attributes: {id: integer}, incremental: {field: id, lookback: 9}, rest: {path: /t}}
          Label: {listing: none, key: id, attributes: {id: integer}, relationships: {tag: {to: Tag}}}
          Line: {bridge: api, key: id, attributes: {id: integer}, quarantine_limit: 7, rest: {path: /lines}}

        """

    @Test func `every key is read`() throws {
        let configuration = try ConfigurationFileTests.load(
            Self.everything, plugins: InvalidConfiguration.shippedPlugins())
        #expect(configuration.bridges.map(\.retryFor) == [.seconds(300), nil])
        #expect(configuration.bridges[1].hook == nil)
        #expect(
            configuration.bridges[0].hook
                == HookConfiguration(
                    secret: .env("HOOK_SECRET"), signature: "X-Signature", timestamp: "X-Sent",
                    key: RemotePath(["data", "id"])))
        let model = configuration.model
        #expect(model.entities.map(\.name) == ["Media", "Film", "Short", "User", "Log", "Tag", "Label", "Line"])
        #expect(model.entities[6].isScanned == false && model.entities[6].bridge.isEmpty)
        #expect(model.entities.map(\.retryFor) == [.seconds(30)] + Array(repeating: nil, count: 7))
        #expect(model.entities[0].sources.map(\.retryFor) == [nil, .seconds(600)])
        #expect(model.entities.map(\.quarantineLimit) == Array(repeating: 100_000, count: 7) + [7])
        #expect(model.entities[0].relationship(named: "parts")?.window == "at")
        #expect(
            model.entities[0].relationship(named: "films")?.metadata == [
                Relationship.Metadata(name: "total", path: RemotePath(["films", "count"])),
                Relationship.Metadata(name: "next", path: RemotePath(["Films@next.link"])),
            ])
        #expect(model.entities[0].sources.map(\.name) == ["facts", "more"])
    }

    private static func load(_ entities: String) throws -> Model {
        try ConfigurationFileTests.load(
            """
            version: 1
            bridges:
              api: {plugin: rest, options: {url: "https://api.example.com"}}
              wiki: {plugin: smb, options: {url: smb://h/s}}
            entities:

            """ + entities.split(separator: "\n").map { "  \($0)\n" }.joined()
        ).model
    }

    @Test func `a subentity has its roots key bridge and table`() throws {
        let model = try Self.load(
            """
            Dog:
              extends: Animal
              when: [{property: kind, equals: [dog, 7]}, {lacks: whiskers}, {property: name, matches: "^Re+x"}]
              attributes: {name: {type: text, from: dogName}, breed: text}
            Animal: {bridge: api, key: [herd, id], attributes: {id: integer, herd: text, name: text}, rest: {path: /a}}
            Puppy: {extends: Dog, bridge: wiki, when: {has: mother.id}, smb: {files: x}}
            Kennel: {bridge: api, key: id, attributes: {id: integer}, relationships: {best: {to: Puppy}}, rest: {path: /k}}
            """)
        let dog = try #require(model.entity(named: "Dog"))
        let puppy = try #require(model.entity(named: "Puppy"))
        let kennel = try #require(model.entity(named: "Kennel"))
        #expect(!dog.isScanned && dog.bridge == "api")
        #expect(puppy.isScanned && puppy.bridge == "wiki" && puppy.section["files"] == "x")
        #expect(model.root(of: puppy).name == "Animal" && model.key(of: puppy).map(\.name) == ["herd", "id"])
        #expect(model.family(of: puppy).map(\.name) == ["Animal", "Dog", "Puppy"])
        #expect(model.attributes(of: puppy).map(\.name) == ["id", "herd", "name", "breed"])
        #expect(model.attributes(of: puppy)[2].source == .path(RemotePath(["dogName"])))
        #expect(model.hasSubentities(model.root(of: dog)) && !model.hasSubentities(kennel))
        #expect(model.storage(of: kennel.relationships[0], in: kennel) == .columns(["best_herd", "best_id"]))
        let expression = try RegularExpression("^Re+x")
        #expect(
            dog.matcher?.conditions == [
                .equals(RemotePath(["kind"]), ["dog", "7"]), .lacks(RemotePath(["whiskers"])),
                .matches(RemotePath(["name"]), expression),
            ])
        #expect(expression.matches("Reeex the Great") && !expression.matches("T-Rex"))
    }

    @Test func `the values of a condition are as they are written, and true of JSON, too`() throws {
        let model = try Self.load(
            """
            Animal: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /a}}
            Dog: {extends: Animal, when: {property: kind, equals: [True, 007, 1.10, ""]}}
            """)
        let values = ["True", "true", "007", "1.10", ""]
        #expect(model.entity(named: "Dog")?.matcher == Matcher([.equals(RemotePath(["kind"]), values)]))
    }

    @Test func `uniquing takes the place of a key`() throws {
        let model = try Self.load(
            """
            Log: {bridge: api, unique: none, attributes: {at: timestamp}, rest: {path: /log}}
            Settings: {bridge: api, unique: singleton, attributes: {theme: text}, rest: {path: /settings}}
            User: {bridge: api, key: id, attributes: {id: text}, relationships: {settings: {to: Settings}}, rest: {path: /u}}
            """)
        #expect(model.entities.map(\.uniquing) == [.none, .singleton, .key])
        #expect(model.entities.map { model.key(of: $0).map(\.name) } == [[], ["singleton"], ["id"]])
        #expect(model.storage(of: model.entities[2].relationships[0], in: model.entities[2]) == .columns(["settings"]))
    }

    @Test func `walks and deletions are read`() throws {
        let model = try Self.load(
            """
            Issue:
              bridge: api
              key: id
              attributes: {id: integer, updated: timestamp}
              relationships:
                repository: {to: Repository}
                labels: {many: Label, orphans: delete, ordered: false, renamed_from: tags}
              parent: {relationship: repository, where: ["id >= 3", "name = null"], concurrency: 2}
              incremental: {field: updated, lookback: 5m}
              full_every: 7d
              deletes: {mode: soft, brake: {share: 5%, rows: 3}, when: {property: state, equals: deleted}}
              extra: true
              renamed_from: Ticket
              rest: {path: /issues}
            Repository: {bridge: api, key: id, attributes: {id: integer, name: text}, rest: {path: /r}, incremental: token}
            Label: {bridge: api, key: id, attributes: {id: integer}, deletes: ignore, rest: {path: /l}, incremental: {field: id, lookback: 9}}
            """)
        let issue = try #require(model.entity(named: "Issue"))
        #expect(
            issue.parent
                == ParentScan(
                    relationship: "repository",
                    conditions: [
                        LocalCondition(field: "id", comparison: .atLeast, value: "3"),
                        LocalCondition(field: "name", comparison: .equal, value: nil),
                    ], concurrency: 2))
        #expect(issue.incremental == .field(attribute: "updated", lookback: 300, order: .any))
        #expect(issue.fullEvery == .seconds(604_800))
        #expect(
            issue.deletes
                == DeletePolicy(
                    mode: .soft, deletionLimit: DeletePolicy.DeletionLimit(share: 0.05, rows: 3),
                    tombstone: Matcher([.equals(RemotePath(["state"]), ["deleted"])])))
        #expect(issue.keepsExtra && issue.renamedFrom == "Ticket")
        let labels = try #require(issue.relationship(named: "labels"))
        #expect(labels.orphans == .delete && !labels.isOrdered && labels.renamedFrom == "tags")
        #expect(model.entities[1].incremental == .token && model.entities[1].deletes == DeletePolicy())
        #expect(model.entities[1].deletes.deletionLimit == DeletePolicy.DeletionLimit(share: 0.2, rows: 10))
        #expect(model.entities[2].incremental == .field(attribute: "id", lookback: 9, order: .any))
        #expect(model.entities[2].deletes.mode == .ignore)
    }

    @Test func `a keyless entity that is fetched from its newest value on is warned of`() throws {
        func warnings(_ entity: String) throws -> [String] {
            try ConfigurationFileTests.load(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "https://api.example.com"}}}
                entities:
                  Log: {bridge: api, \(entity), attributes: {at: timestamp}, rest: {path: /log}}
                """, plugins: InvalidConfiguration.shippedPlugins(), environment: [:]
            ).warnings.map(\.message)
        }
        let found = try warnings("unique: none, incremental: {field: at}")
        #expect(found.count == 1 && found[0].contains("the last record is appended by each sync"), "\(found)")
        #expect(try warnings("unique: none").isEmpty)
        #expect(try warnings("key: at, incremental: {field: at}").isEmpty)
    }

    @Test func `a precedence that decides nothing is a fault`() throws {
        let text = """
            Country:
              bridge: api
              key: code
              attributes: {code: text, name: text, area: real}
              rest: {path: /countries}
              sources:
                facts: {bridge: wiki, attributes: [name, area], smb: {files: x}}
              precedence: [main, facts]
            """
        let errors = try #require(throws: ConfigurationErrors.self) { _ = try Self.load(text) }
        #expect(
            errors.diagnostics.map(\.message) == [
                #""precedence" of entity "Country" decides nothing: no attribute is provided by two sources; "#
                    + "what a source names in a list comes from it alone"
            ])
        #expect(errors.diagnostics[0].remedy?.contains(#""attributes: {name: text}""#) == true)
        _ = try Self.load(text.replacing("[name, area]", with: "{name: text, area: real}"))
    }

    @Test func `a source brings its attributes and the keys`() throws {
        let model = try Self.load(
            """
            Country:
              bridge: api
              key: code
              attributes: {code: text, name: text, area: real}
              rest: {path: /countries}
              sources:
                facts:
                  bridge: wiki
                  attributes: [area]
                  relationships: {capital: {to: City, from: main_city}}
                  each: {where: "name != null", concurrency: 8}
                  smb: {files: x}
                words: {bridge: wiki, attributes: {code: {type: text, from: iso}, motto: text, name: {type: text, from: title}}, smb: {files: y}}
              precedence: [main, words]
            City: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /cities}}
            """)
        let country = try #require(model.entity(named: "Country"))
        #expect(country.attributes.map(\.name) == ["code", "name", "area", "motto"])
        #expect(country.relationships.map(\.name) == ["capital"])
        #expect(country.sourcedNames == ["area", "capital", "motto"])
        #expect(country.precedence == ["main", "words"])
        let facts = try #require(country.source(named: "facts"))
        #expect(facts.attributes.map(\.name) == ["area", "code"] && facts.relationships.map(\.name) == ["capital"])
        #expect(facts.parent?.relationship == nil && facts.parent?.concurrency == 8)
        #expect(facts.bridge == "wiki" && facts.section["files"] == "x")
        let words = try #require(country.source(named: "words"))
        #expect(words.attributes.map(\.name) == ["code", "motto", "name"])
        #expect(words.attributes[0].source == .path(RemotePath(["iso"])))
    }

    @Test(arguments: [
        ("name~%land", "name ~ %land"), ("a<=3", "a <= 3"), ("a = null", "a = nil"), ("a>null", "a > null"),
        ("a = <b", "a = <b"), ("a< =5", "a < =5"), ("a=\u{301}e", "a = \u{301}e"), ("a<=\u{200D}e", "a <= \u{200D}e"),
    ])
    func `a condition is read`(_ text: String, _ expected: String) throws {
        let condition = try #require(LocalCondition(text))
        #expect("\(condition.field) \(condition.comparison.rawValue) \(condition.value ?? "nil")" == expected)
    }

    @Test(arguments: [
        ("state <> open", "write != for <>, or a space before a value that begins with >"),
        ("state==open", "write = for ==, or a space before a value that begins with ="),
        ("n=>5", "write >= for =>, or a space before a value that begins with >"),
        ("state!=~new", "write a space before a value that begins with ~"),
        ("state", "write FIELD OPERATOR VALUE, with one of != <= >= = < > ~"),
    ])
    func `an operator of another language is refused with the one of this`(_ text: String, _ remedy: String) {
        #expect(LocalCondition(text) == nil)
        #expect(LocalCondition.remedy(for: text) == remedy)
    }

    @Test(arguments: ["<", "=", "~"])
    func `a condition as text is read as the same`(_ comparison: String) {
        for value in ["=5", "~a", "b", "", "\u{301}e", "=\u{301}e", "\u{200C}=5"] {
            let condition = LocalCondition(LocalCondition.text("a", comparison, value))
            #expect(condition?.value == value && condition?.comparison.rawValue == comparison)
        }
    }

    @Test(arguments: ["name", "=3", "", "a b"])
    func `a text without an operator is not a condition`(_ text: String) {
        #expect(LocalCondition(text) == nil)
    }
}
