internal import Model
internal import TextFormats

/// The bridges of a dlt configuration: one for each address and way to authenticate.
final class DLTBridges {
    private(set) var bridges: [BridgeDraft] = []
    private let name: String
    private let base: String
    private let client: ConfigValue
    private let names = InputNames()

    init(name: String, base: String, client: ConfigValue) {
        self.name = name
        self.base = base
        self.client = client
    }

    /// Returns the bridge for an endpoint, and the endpoint's path below its url.
    ///
    /// - Parameter auth: The endpoint's own authentication; nil for the client's.
    func bridge(path: String, auth: ConfigValue?) -> (bridge: BridgeDraft, path: String) {
        var url = base
        var path = path
        if path.contains("://"), let scheme = path.firstRange(of: "://") {
            let authority = path[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
            url = String(path[..<authority.endIndex])
            path = String(path[authority.endIndex...])
        }
        while url.hasSuffix("/") { url.removeLast() }
        let number = bridges.count + 1
        let (address, user) = LiteralCredentials.parts(url)
        let draft = BridgeDraft(
            name: number == 1 ? name : "\(name)_\(number)", environmentPrefix: name.uppercased(), url: address,
            names: names)
        authenticate(draft, auth ?? client["auth"] ?? .null)
        draft.authenticate(asURL: user)
        if let found = bridges.first(where: { $0.isLike(draft) }) { return (found, path) }
        bridges.append(draft)
        return (draft, path)
    }

    private func authenticate(_ draft: BridgeDraft, _ given: ConfigValue) {
        guard given != .null else { return }
        let type = given.string ?? given["type"]?.string ?? "bearer"
        func secret(_ input: String) -> ConfigValue {
            draft.reference(to: Inputs.Open(path: [input], isSecret: true))
        }
        var read: Set<String> = ["type"]
        switch type {
        case "bearer":
            read.insert("token")
            draft.auth = [("type", "bearer"), ("token", secret("token"))]
        case "http_basic":
            read.formUnion(["username", "password"])
            let user = given["username"]?.string.flatMap {
                $0.isEmpty || $0.contains("{") ? nil : ConfigValue.string($0)
            }
            draft.auth = [("type", "basic"), ("user", user ?? secret("username")), ("password", secret("password"))]
        case "api_key":
            read.formUnion(["name", "api_key", "location"])
            let place =
                ["query": "query", "param": "query", "cookie": "cookie"][given["location"]?.string ?? ""] ?? "header"
            draft.auth = [
                ("type", "api_key"), ("value", secret("api_key")),
                (place, .string(given["name"]?.string ?? "Authorization")),
            ]
        case "oauth2_client_credentials":
            read.formUnion([
                "access_token_url", "client_id", "client_secret", "access_token_request_data", "access_token",
                "default_token_expiration",
            ])
            // The client's secret must not go to an address that is a guess.
            guard let url = given["access_token_url"]?.string, url.contains("://") else {
                draft.obstacles.append(
                    "its authentication has no access_token_url that is a URL: add it to the dictionary, or write "
                        + "auth of the bridge with type: oauth2, token_url, client_id and client_secret")
                break
            }
            draft.auth = [
                ("type", "oauth2"), ("token_url", .string(url)),
                ("client_id", secret("client_id")), ("client_secret", secret("client_secret")),
            ]
            var more = given["access_token_request_data"]?.members ?? []
            if let scope = more.first(where: { $0.key == "scope" })?.value { draft.auth.append(("scope", scope)) }
            more.removeAll { ["scope", "grant_type", "client_id", "client_secret"].contains($0.key) }
            more.removeAll { member in
                guard SecretNames.suggests(member.key) else { return false }
                draft.note("\(member.key) of access_token_request_data is left out: its name suggests a secret")
                return true
            }
            if !more.isEmpty { draft.auth.append(("parameters", .object(more))) }
        default: draft.obstacles.append("its authentication \(type) is custom Python")
        }
        for (name, _) in given.members ?? [] where !read.contains(name) {
            draft.doubt("auth: \(name) is not carried")
        }
    }
}
