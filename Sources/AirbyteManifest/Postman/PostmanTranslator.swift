internal import Model
internal import TextFormats

/// Translates the requests of a collection: those that list objects become entities.
final class PostmanTranslator {
    private(set) var drafts: [EntityDraft] = []
    private(set) var bridges: [BridgeDraft] = []
    /// The requests without an entity, with the reasons.
    private(set) var lost: [(name: String, reason: String)] = []
    private let name: String
    private let variables: PostmanVariables
    private let names = InputNames()
    private var tables = LocalNames()
    /// The entities by the shapes of their requests.
    private var listings: [String: EntityDraft] = [:]

    init(name: String, variables: PostmanVariables) {
        self.name = name
        self.variables = variables
    }

    func run(_ requests: [PostmanRequest]) {
        // Parents have fewer variables.
        let order = requests.indices.sorted { one, other in
            let counts = [one, other].map { requests[$0].path.count { $0.hasPrefix(":") } }
            return counts[0] == counts[1] ? one < other : counts[0] < counts[1]
        }
        var writes: [PostmanRequest] = []
        for index in order {
            let request = requests[index]
            do throws(Untranslatable) {
                if ["PUT", "PATCH", "DELETE"].contains(request.method) {
                    writes.append(request)
                } else {
                    try translate(request)
                }
            } catch {
                if request.method == "GET" { lost.append((request.name, error.reason)) } else { writes.append(request) }
            }
        }
        for request in writes { note(request) }
    }

    /// A request that changes something is a note of the entity at its path.
    private func note(_ request: PostmanRequest) {
        let reason = "\(request.method) /\(request.path.joined(separator: "/")) is not a listing"
        lost.append((request.name, reason + "; writes.md says how objects are written"))
        var path = request.path
        if path.last?.hasPrefix(":") == true { path.removeLast() }
        let shape = "GET " + request.base + "/" + path.map { $0.hasPrefix(":") ? ":" : $0 }.joined(separator: "/")
        listings[shape]?.note("\(reason): writes are off; see write in docs/writes.md")
    }

    private func translate(_ request: PostmanRequest) throws(Untranslatable) {
        guard ["GET", "POST"].contains(request.method) else {
            throw Untranslatable("bmo has no listing by \(request.method)")
        }
        guard let reply = request.example else {
            throw Untranslatable("it has no saved example of a successful reply with JSON")
        }
        if listings[request.shape] != nil { throw Untranslatable("another request reads the same path") }
        let word = request.path.last { !$0.hasPrefix(":") }
        let example = try PostmanExample(reply, word: word)
        // POST mostly creates one object.
        if example.isSingle, request.method == "POST" { throw Untranslatable("its example is one object") }
        if example.isSingle, request.path.last?.hasPrefix(":") == true {
            throw Untranslatable("it reads one object, whose key it needs")
        }
        let draft = EntityDraft(stream: request.name)
        draft.name = tables.claim(word ?? "root")
        draft.keepsExtra = draft.columns.claim("extra") == "extra"
        listings[request.shape] = draft
        drafts.append(draft)
        for note in request.notes { draft.note(note) }
        for (member, type) in example.members {
            let column = draft.columns.claim(LocalNames.identifier(member))
            draft.attributes.append(
                EntityDraft.Attribute(name: column, type: type, path: .string(EntityDraft.path([member]))))
        }
        if let key = example.key(entity: draft.name) {
            draft.key = [draft.attribute(reading: [key.name])]
            draft.keyComment = "a guess: unique in the example"
            if !key.isSure { draft.doubt("its key \(key.name) is a guess", ofValues: true) }
        } else {
            draft.doubt("no member of its example could be a key: each sync appends all records again", ofValues: true)
        }
        let bridge = self.bridge(request)
        draft.bridge = bridge.name
        for obstacle in bridge.obstacles { draft.obstacle(obstacle) }
        path(request, draft, bridge)
        send(request, draft, bridge)
        draft.set("records", .string(example.records))
        if example.isSingle {
            draft.set("paging", "none")
        } else {
            draft.note("bmo detects the paging in the first reply")
        }
    }

    private func path(_ request: PostmanRequest, _ draft: EntityDraft, _ bridge: BridgeDraft) {
        let variable = request.path.lastIndex { $0.hasPrefix(":") }
        var path = request.path.map { open($0, bridge, isPath: true) }
        if let variable {
            let above = Array(request.path[..<variable])
            let shape = "GET " + request.base + "/" + above.map { $0.hasPrefix(":") ? ":" : $0 }.joined(separator: "/")
            if above.contains(where: { $0.hasPrefix(":") }) {
                draft.obstacle("its path has several variables; bmo knows those of one parent")
            } else if let parent = listings[shape], parent !== draft, let key = parent.key.first {
                draft.parent = (draft.columns.claim("of_" + parent.name.lowercased()), parent, "guessed from the path")
                path[variable] = "{parent.\(key)}"
            } else {
                draft.obstacle(
                    "its path needs \(request.path[variable]), and no request lists \("/" + above.joined(separator: "/"))"
                )
            }
        }
        draft.set("path", .string("/" + path.joined(separator: "/") + (request.endsWithSlash ? "/" : "")))
    }

    private func send(_ request: PostmanRequest, _ draft: EntityDraft, _ bridge: BridgeDraft) {
        func value(_ name: String, _ given: String, in place: String, isSecret: Bool) -> ConfigValue {
            guard isSecret, !given.isEmpty else { return .string(open(given, bridge)) }
            return .string(LiteralCredentials.variable(name, given, in: place, of: draft, bridge))
        }
        for (name, given) in request.query {
            let isSecret = LiteralCredentials.isParameter(name)
            let value = value(name, given, in: "the query", isSecret: isSecret)
            let before = draft.setting("query")?[name].map { $0.array ?? [$0] }
            draft.add(name, before.map { .array($0 + [value]) } ?? value, to: "query")
        }
        for (name, given) in request.headers where !["accept", "content-type"].contains(name.lowercased()) {
            let isSecret = SecretNames.isHeader(name)
            draft.add(name, value(name, given, in: "the headers", isSecret: isSecret), to: "headers")
        }
        if request.method == "POST" { draft.set("method", "POST") }
        guard let body = request.body else { return }
        switch body["mode"]?.string {
        case "raw":
            guard let json = (body["raw"]?.string).flatMap({ try? ConfigValue(json: variables.text($0)) }) else {
                if body["raw"]?.string?.isEmpty == false { draft.obstacle("its body is not JSON") }
                return
            }
            draft.set("body", open(LiteralCredentials.body(json, of: draft, bridge), bridge))
        case "urlencoded":
            for pair in body["urlencoded"]?.array ?? [] where pair["disabled"]?.bool != true {
                guard let name = pair["key"]?.string else { continue }
                let given = variables.text(pair["value"]?.string ?? "")
                let isSecret = LiteralCredentials.isParameter(name)
                draft.add(name, value(name, given, in: "the body", isSecret: isSecret), to: "body")
            }
            draft.set("body_format", "form")
        case "graphql":
            var graphql: [(key: String, value: ConfigValue)] = [("query", body["graphql"]?["query"] ?? "")]
            let given = (body["graphql"]?["variables"]?.string).flatMap { try? ConfigValue(json: variables.text($0)) }
            if let given, given.members?.isEmpty == false {
                graphql.append(("variables", open(LiteralCredentials.body(given, of: draft, bridge), bridge)))
            }
            draft.set("graphql", .object(graphql))
        default: draft.obstacle("its body is of the kind \(body["mode"]?.printed ?? "none")")
        }
    }

    /// Returns a text with parameters of the bridge in place of variables without a value.
    private func open(_ text: String, _ bridge: BridgeDraft, isPath: Bool = false) -> String {
        // In the template of a path these characters have a meaning.
        func literal(_ text: Substring) -> String {
            isPath ? PathText.escaped(text, #"\(){}|"#) : String(text)
        }
        return PostmanVariables.replacing(text, literal: literal) { name in
            "{\(bridge.parameter(for: Inputs.Open(path: [name], isSecret: SecretNames.suggests(name))))}"
        }
    }

    private func open(_ value: ConfigValue, _ bridge: BridgeDraft) -> ConfigValue {
        switch value {
        case .string(let text): .string(open(text, bridge))
        case .array(let elements): .array(elements.map { open($0, bridge) })
        case .object(let members): .object(members.map { ($0.key, open($0.value, bridge)) })
        default: value
        }
    }

    private func bridge(_ request: PostmanRequest) -> BridgeDraft {
        var (url, user) = LiteralCredentials.parts(request.base)
        var note: String?
        if !url.contains("://") || url.contains("{{") {
            note = "the url needs the variables of \(url): write it here"
            let host = LocalNames.identifier(url.filter { $0.isLetter || $0.isNumber }).lowercased()
            url = "https://\(host.isEmpty ? "host" : host.replacing("_", with: "-")).example"
        }
        let number = bridges.count + 1
        let draft = BridgeDraft(
            name: number == 1 ? name : "\(name)_\(number)", environmentPrefix: name.uppercased(), url: url, names: names
        )
        if let note { draft.note(note) }
        authenticate(draft, request.auth)
        draft.authenticate(asURL: user)
        if let found = bridges.first(where: { $0.isLike(draft) }) { return found }
        bridges.append(draft)
        return draft
    }

    private func authenticate(_ draft: BridgeDraft, _ auth: ConfigValue?) {
        guard let auth, auth != .null, let type = auth["type"]?.string, type != "noauth" else { return }
        func given(_ name: String) -> String? {
            let list = auth[type]
            let value = list?[name] ?? list?.array?.first { $0["key"]?.string == name }?["value"]
            return (value?.string).map { variables.text($0) }
        }
        func secret(_ input: String) -> ConfigValue {
            draft.reference(to: Inputs.Open(path: [input], isSecret: true))
        }
        func plain(_ name: String) -> ConfigValue {
            guard let text = given(name), !text.isEmpty, !text.contains("{{") else { return secret(name) }
            return .string(text)
        }
        switch type {
        case "bearer": draft.auth = [("type", "bearer"), ("token", secret("token"))]
        case "basic", "digest":
            draft.auth = [("type", .string(type)), ("user", plain("username")), ("password", secret("password"))]
        case "apikey":
            let place = given("in") == "query" ? "query" : "header"
            draft.auth = [
                ("type", "api_key"), ("value", secret("api_key")), (place, .string(given("key") ?? "X-Api-Key")),
            ]
        case "oauth2" where given("grant_type") == "client_credentials":
            // The client's secret must not go to a path below the API's url.
            let isURL = given("accessTokenUrl")?.contains("://") ?? false
            draft.auth = [
                ("type", "oauth2"), ("token_url", isURL ? plain("accessTokenUrl") : secret("accessTokenUrl")),
                ("client_id", secret("client_id")), ("client_secret", secret("client_secret")),
            ]
            if let scope = given("scope"), !scope.isEmpty { draft.auth.append(("scope", .string(scope))) }
        case "oauth2":
            draft.auth = [("type", "bearer"), ("token", secret("token"))]
            draft.note("Postman gets the token in a browser; here the environment has it")
        default: draft.obstacles.append("its authentication \(type) has no counterpart")
        }
    }
}
