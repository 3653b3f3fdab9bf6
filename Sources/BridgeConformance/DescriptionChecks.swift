internal import RecordBatch
internal import TextFormats
internal import Yams
internal import BridgeHost

/// Checks a bridge's self-description.
enum DescriptionChecks {
    static let all = [
        Check("describe.summary", "says in a sentence what it talks to", .full) { subject in
            try require(!subject.plugin.summary.isEmpty, "the summary is empty")
        },
        Check("describe.capabilities", "claims only capabilities of the contract", .basic) { subject in
            let known: Set = [
                "check", "discover", "fetch", "create", "update", "delete", "resume", "incremental", "parent", "filter",
                "plan", "judge", "watch", "replay", "plan_write", "newest_first", "user_info", "parameters", "moves",
            ]
            let odd = subject.plugin.capabilities.filter { !known.contains($0) && !$0.hasPrefix("x-") }
            try require(odd.isEmpty, "unknown capabilities: \(odd.joined(separator: ", ")); own ones begin with x-")
            try require(subject.plugin.can("fetch"), "it cannot fetch")
        },
        Check("describe.closed", "its schemas refuse members that they do not know", .full) { subject in
            for (name, text) in schemas(subject) {
                try require(
                    try object(text, name)["additionalProperties"] as? Bool == false,
                    "the schema of \(name) lets misspelled members pass: add \"additionalProperties\": false")
            }
        },
        Check("describe.documented", "each member of its schemas has a description", .strict) { subject in
            for (name, text) in schemas(subject) {
                let bare = properties(try object(text, name)).filter { $0.value["description"] as? String == nil }
                try require(
                    bare.isEmpty, "without a description, of \(name): \(bare.keys.sorted().joined(separator: ", "))")
            }
        },
        Check("describe.secrets", "options that are secrets are marked as such", .basic) { subject in
            let open = properties(try object(subject.plugin.optionsSchema, "options")).filter { name, schema in
                let isText = (schema["type"] as? String ?? "string") == "string"
                return isText && schema["writeOnly"] as? Bool != true
                    && SecretNames.suggests(name)
                    && !["url", "path", "file", "cache", "parameter", "header", "name", "type"].contains {
                        name.lowercased().hasSuffix($0)
                    }
            }
            try require(
                open.isEmpty,
                "look like secrets and have no \"writeOnly\": true: \(open.keys.sorted().joined(separator: ", "))")
        },
        Check("open.again", "opens and closes three times in one process", .basic) { subject in
            for _ in 1...3 { try await subject.connect().close() }
        },
        Check("check.good", "says that it is connected", .basic) { subject in
            guard subject.plugin.can("check") else { throw NotApplicable("it cannot check") }
            let connection = try await subject.connect()
            try await connection.closing {
                _ = try await connection.check()
            }
        },
        Check(
            "check.wrong", "refuses wrong credentials with a fitting code and a remedy or the remote's message", .full
        ) { subject in
            guard subject.plugin.can("check") else { throw NotApplicable("it cannot check") }
            guard !subject.settings.wrongOptions.isEmpty else {
                throw NotApplicable("the settings have no `wrong_options`")
            }
            do {
                let connection = try await subject.connect(changing: subject.settings.wrongOptions)
                try await connection.closing {
                    _ = try await connection.check()
                }
            } catch let error as BridgeFailure {
                let good: [BridgeFailure.Code] = [
                    .authentication, .permission, .configuration, .unreachable, .notFound, .tls,
                ]
                try require(
                    good.contains(error.code), "the failure has the code \(error.code.rawValue): \(error.message)")
                try require(
                    error.remedy != nil || error.remote != nil,
                    "the failure has neither a remedy nor the remote's message: \(error.message)")
                return
            }
            throw Violation("the check passes with wrong options")
        },
        Check("discover.shape", "lists the entities on offer, each once, with fields", .full) { subject in
            guard subject.plugin.can("discover") else { throw NotApplicable("it cannot discover") }
            let connection = try await subject.connect()
            try await connection.closing {
                let found = try await connection.discover()
                var names: Set<String> = []
                for index in 0..<found.count {
                    let record = found[index]
                    guard let name = record["name"]?.text, !name.isEmpty else {
                        // This record describes the bridge itself.
                        if ["title", "options", "notes"].contains(where: { record[$0] != nil }) { continue }
                        throw Violation("an entity has no name")
                    }
                    try require(names.insert(name).inserted, "the entity \(name) comes twice")
                    guard let fields = record["fields"], fields.tag == .array else {
                        throw Violation("the entity \(name) has no list of fields")
                    }
                    for field in fields.elements where field["name"]?.text == nil || field["type"]?.text == nil {
                        throw Violation("a field of \(name) lacks its name or type")
                    }
                    try require(record["section"]?.tag == .object, "the entity \(name) has no section")
                }
                withExtendedLifetime(found) {}
            }
        },
    ]

    private static func schemas(_ subject: Subject) -> [(String, String)] {
        [("options", subject.plugin.optionsSchema), ("entities", subject.plugin.entitySchema)]
    }

    private static func object(_ text: String, _ name: String) throws -> [String: Any] {
        // YAML 1.2 is a superset of JSON.
        guard let object = try? Yams.load(yaml: text) as? [String: Any] else {
            throw Violation("the schema of \(name) is not a JSON object")
        }
        return object
    }

    /// Returns the members of a schema and of its nested objects by name.
    private static func properties(_ schema: [String: Any]) -> [String: [String: Any]] {
        var all: [String: [String: Any]] = [:]
        for (name, value) in schema["properties"] as? [String: Any] ?? [:] {
            guard let value = value as? [String: Any] else { continue }
            all[name] = value
            all.merge(properties(value)) { first, _ in first }
        }
        return all
    }
}
