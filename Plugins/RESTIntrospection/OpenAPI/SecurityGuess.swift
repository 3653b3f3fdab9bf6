package import BridgeJSON
internal import Inference

/// The bridge options that a document's servers and security schemes call for.
package struct SecurityGuess {
    package private(set) var options: [(String, JSONTree)] = []
    package private(set) var notes: [String] = []

    /// The options for operations that those of the document do not satisfy: a bridge of its own.
    package struct Part: Sendable {
        /// A name made of those of the schemes.
        package let name: String
        package let options: [(String, JSONTree)]
        package let notes: [String]
        fileprivate let schemes: Set<String>
    }

    /// The schemes that the options satisfy.
    private var chosen: Set<String> = []
    private let schemes: [String: JSONTree]
    let address: ServerAddress
    private var url: String { address.url }
    private let prefix: String
    /// The credentials that each bridge's options list under `parameters`, by their variables in sections.
    private(set) var parameters: [(String, JSONTree)] = []
    /// The document's own requirements, for operations without any.
    private let shared: [[String]]

    /// Guesses the options of a document.
    package init(_ document: OpenAPIDocument) {
        let (text, note) = Self.url(document)
        let address = ServerAddress(text)
        let prefix = Self.variable(document.title)
        self.address = address
        self.prefix = prefix
        options.append(("url", address.option(prefix)))
        if let note { notes.append(note) }
        if !address.variables.isEmpty {
            notes.append(
                "url: \(address.variables.joined(separator: " and ")) in it looks like a credential: put \(address.url), "
                    + "with the value, into the environment variable \(prefix)_URL")
        }
        let all =
            document.isSwagger2
            ? document.root["securityDefinitions"] : document.root["components"]?["securitySchemes"]
        let members = all?.members ?? []
        schemes = Dictionary(
            members.map { ($0.name, document.resolve($0.value).value) }, uniquingKeysWith: { first, _ in first })
        shared = Self.alternatives(document.root["security"])
        // Prefer what the whole document requires, then what its operations require. Browser sessions come last.
        let known = shared + Self.requiredByOperations(document) + members.map { [$0.name] }
        var refused: Set<String> = []
        for names in known.filter({ !isSession($0) }) + known.filter(isSession) {
            guard names.allSatisfy({ schemes[$0] != nil }), let first = names.first else { continue }
            guard let found = options(for: names, prefix: prefix) else {
                if names.count == 1, refused.insert(first).inserted {
                    notes.append("auth: the security scheme \(first) is of a kind that the options do not support")
                }
                continue
            }
            options += found
            chosen = Set(names)
            let others = members.map(\.name).filter { !names.contains($0) }
            notes.append(
                "auth: medium: security scheme \(names.joined(separator: " with "))"
                    + (others.isEmpty ? "" : "; others: \(others.joined(separator: ", "))"))
            return
        }
    }

    /// Takes the credentials in the server's address, and those among the parameters that listings must have, from the
    /// environment.
    ///
    /// - Parameter listings: The names of each listing's credentials in its query, and the variables of those in its
    ///   body.
    mutating func require(_ listings: [(query: [String], body: [String])]) {
        let prefix = self.prefix
        func reference(_ word: String) -> JSONTree { ["env": .text("\(prefix)_\(word.uppercased())")] }
        var hasAuth = options.contains { $0.0 == "auth" }
        if address.hadUser {
            notes.append(
                "auth: the server's address had a user, which is left out"
                    + (hasAuth ? "" : ": the user and the password come from the environment"))
            if !hasAuth {
                options.append(
                    ("auth", ["type": "basic", "user": reference("USER"), "password": reference("PASSWORD")]))
                hasAuth = true
            }
        }
        let names = listings.flatMap(\.query)
        // What each request must have authenticates it.
        let counts = Dictionary(listings.flatMap { Set($0.query) }.map { ($0, 1) }, uniquingKeysWith: +)
        if !hasAuth, let name = names.first(where: { counts[$0] == listings.count }) {
            let value = reference(SecretGuess.variable([name]))
            options.append(("auth", ["type": "api_key", "value": value, "query": .text(name)]))
            notes.append("auth: medium: each request must have \(name), which looks like a credential")
        }
        let authenticated = queryName(of: nil)
        var variables: [String] = []
        for name in names where name != authenticated { variables.append(SecretGuess.variable([name])) }
        // A parameter `token` is not the token of `auth`.
        let taken = Set(options.flatMap { $0.1.texts })
        var known = Set(parameters.map(\.0))
        for variable in variables + listings.flatMap(\.body) where known.insert(variable).inserted {
            let isTaken = taken.contains("\(prefix)_\(variable.uppercased())")
            parameters.append((variable, reference(isTaken ? "parameter_" + variable : variable)))
        }
        guard !parameters.isEmpty else { return }
        options.append(("parameters", .object(parameters)))
        notes.append(
            "parameters: \(parameters.map(\.0).joined(separator: ", ")): named like credentials, which requests must have: "
                + "the values come from the environment")
    }

    /// Returns the name of the parameter in the query that authenticates requests; nil if none does.
    func queryName(of part: Part?) -> String? {
        (part?.options ?? options).first { $0.0 == "auth" }?.1["query"]?.text
    }

    private func isSession(_ names: [String]) -> Bool { names.contains { schemes[$0]?["in"]?.text == "cookie" } }

    /// Returns the options that satisfy schemes which are required together; nil if the bridge has no such options.
    private func options(for names: [String], prefix: String) -> [(String, JSONTree)]? {
        let parts = names.compactMap { schemes[$0] }
        guard let first = parts.first, parts.count == names.count,
            let auth = Self.auth(first, prefix: prefix, url: url),
            let fields = Self.fields(parts.dropFirst(), prefix: prefix)
        else { return nil }
        return [("auth", auth)] + (fields.isEmpty ? [] : [("headers", .object(fields))])
    }

    /// Returns the part of the API for an operation that the options do not fit; nil if they do, or no others would.
    ///
    /// An operation that says that it needs no credentials gets none, unless writes of its objects need those of the main
    /// part: an entity has one bridge.
    ///
    /// - Parameters:
    ///   - writes: The operations that write the listing's objects.
    ///   - taken: The names of the parts so far, with their schemes.
    func part(of operation: JSONTree, writes: [JSONTree], _ taken: inout [String: Set<String>]) -> Part? {
        let own = operation["security"]?.elements.map { _ in Self.alternatives(operation["security"]) }
        guard !chosen.isEmpty else { return nil }
        if let own, own.allSatisfy(\.isEmpty) {
            let needsMain = writes.contains { write in
                let required = write["security"].map(Self.alternatives) ?? shared
                return !required.contains(where: \.isEmpty) && required.contains { chosen.isSuperset(of: $0) }
            }
            if needsMain { return nil }
            return Part(
                name: Self.name("public", for: [], &taken), options: partOptions([]),
                notes: ["no auth: the operations require none"], schemes: [])
        }
        guard lack(of: operation) != nil else { return nil }
        let known = own ?? shared
        for names in known.filter({ !isSession($0) }) + known.filter(isSession) {
            let words = names.flatMap { NameWords.split($0, isASCII: true) }.joined(separator: "-")
            guard !words.isEmpty, options(for: names, prefix: prefix) != nil else { continue }
            let name = Self.name(String(words.lowercased().prefix(40)), for: Set(names), &taken)
            let variable = "\(prefix)_\(name.uppercased().replacing("-", with: "_"))"
            return Part(
                name: name, options: partOptions(options(for: names, prefix: variable) ?? []),
                notes: ["auth: medium: security scheme \(names.joined(separator: " with "))"], schemes: Set(names))
        }
        return nil
    }

    /// Returns the options of a part of the API.
    private func partOptions(_ own: [(String, JSONTree)]) -> [(String, JSONTree)] {
        var options = [("url", address.option(prefix))] + own
        if !parameters.isEmpty { options.append(("parameters", .object(parameters))) }
        return options
    }

    /// Returns a name that no other set of schemes has.
    private static func name(
        _ wanted: String, for schemes: Set<String>, _ taken: inout [String: Set<String>]
    ) -> String {
        var name = wanted
        var number = 2
        while let other = taken[name], other != schemes {
            name = "\(wanted)-\(number)"
            number += 1
        }
        taken[name] = schemes
        return name
    }

    /// Returns what an operation requires and the options do not satisfy, in words; nil if they do.
    ///
    /// - Parameter part: The part of the API whose options are meant; nil for the main part.
    func lack(of operation: JSONTree, in part: Part? = nil) -> String? {
        let own = operation["security"].map(Self.alternatives) ?? shared
        let satisfied = part?.schemes ?? chosen
        guard !chosen.isEmpty, !own.isEmpty, !own.contains(where: { satisfied.isSuperset(of: $0) }) else { return nil }
        return own.map { $0.joined(separator: " with ") }.joined(separator: " or ")
    }

    /// The sets of schemes, where any one set is enough; an empty set needs no scheme.
    private static func alternatives(_ security: JSONTree?) -> [[String]] {
        (security?.elements ?? []).map { $0.members.map(\.name) }
    }

    /// Returns the header fields of the schemes that are required besides another one; nil if a scheme is not a header field.
    private static func fields(_ schemes: ArraySlice<JSONTree>, prefix: String) -> [(String, JSONTree)]? {
        var fields: [(String, JSONTree)] = []
        for scheme in schemes {
            guard scheme["type"]?.text?.lowercased() == "apikey", scheme["in"]?.text == "header",
                let name = scheme["name"]?.text
            else { return nil }
            let word = NameWords.split(name, isASCII: true).joined(separator: "_").uppercased()
            fields.append((name, ["env": .text("\(prefix)_\(word)")]))
        }
        return fields
    }

    /// Returns the sets of schemes that operations require, the most frequent first.
    private static func requiredByOperations(_ document: OpenAPIDocument) -> [[String]] {
        var order: [[String]] = []
        var counts: [[String]: Int] = [:]
        for path in document.root["paths"]?.members ?? [] {
            for names in alternatives(document.resolve(path.value).value["get"]?["security"]) where !names.isEmpty {
                if counts[names] == nil { order.append(names) }
                counts[names, default: 0] += 1
            }
        }
        return order.enumerated().sorted { left, right in
            let (mine, theirs) = (counts[left.element] ?? 0, counts[right.element] ?? 0)
            return mine == theirs ? left.offset < right.offset : mine > theirs
        }.map(\.element)
    }

    /// Returns `Token` for drf-spectacular's description "Token-based authentication with required prefix "Token"".
    private static func prefix(_ scheme: JSONTree) -> String? {
        guard scheme["name"]?.text?.lowercased() == "authorization", let words = scheme["description"]?.text,
            let start = words.firstRange(of: "prefix \"")?.upperBound
        else { return nil }
        let word = words[start...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        return word.isEmpty || words[word.endIndex...].first != "\"" ? nil : String(word)
    }

    private static func auth(_ scheme: JSONTree, prefix: String, url: String) -> JSONTree? {
        func secret(_ name: String) -> JSONTree { ["env": .text("\(prefix)_\(name)")] }
        switch (scheme["type"]?.text?.lowercased(), scheme["scheme"]?.text?.lowercased(), scheme["in"]?.text) {
        case ("basic", _, _), ("http", "basic", _):
            return ["type": "basic", "user": secret("USER"), "password": secret("PASSWORD")]
        case ("oauth2", _, _) where passwordURL(scheme) != nil && tokenURL(scheme) == nil:
            return [
                "type": "oauth2", "grant": "password",
                "token_url": .text(absolute(passwordURL(scheme) ?? "", below: url)), "user": secret("USER"),
                "password": secret("PASSWORD"),
            ]
        case ("oauth2", _, _) where tokenURL(scheme) != nil:
            return [
                "type": "oauth2", "token_url": .text(absolute(tokenURL(scheme) ?? "", below: url)),
                "client_id": secret("CLIENT_ID"),
                "client_secret": secret("CLIENT_SECRET"),
            ]
        case ("http", "digest", _): return ["type": "digest", "user": secret("USER"), "password": secret("PASSWORD")]
        case ("apikey", _, "cookie"):
            return ["type": "api_key", "value": secret("KEY"), "cookie": scheme["name"] ?? "session"]
        case ("http", "bearer", _), ("oauth2", _, _), ("openidconnect", _, _):
            return ["type": "bearer", "token": secret("TOKEN")]
        case ("apikey", _, "header"):
            if let prefix = Self.prefix(scheme) {
                return ["type": "bearer", "scheme": .text(prefix), "token": secret("TOKEN")]
            }
            return ["type": "api_key", "value": secret("KEY"), "header": scheme["name"] ?? "X-API-Key"]
        case ("apikey", _, "query"):
            return ["type": "api_key", "value": secret("KEY"), "query": scheme["name"] ?? "api_key"]
        default: return nil
        }
    }

    /// Returns the token URL of the client credentials flow, which needs no user.
    private static func tokenURL(_ scheme: JSONTree) -> String? {
        scheme[["flows", "clientCredentials", "tokenUrl"]]?.text
            ?? (scheme["flow"]?.text == "application" ? scheme["tokenUrl"]?.text : nil)
    }

    /// Returns the token URL of the password flow.
    private static func passwordURL(_ scheme: JSONTree) -> String? {
        scheme[["flows", "password", "tokenUrl"]]?.text
            ?? (scheme["flow"]?.text == "password" ? scheme["tokenUrl"]?.text : nil)
    }

    /// Resolves a path from the host's root.
    ///
    /// As an option it would be taken relative to `url`.
    private static func absolute(_ address: String, below url: String) -> String {
        guard address.hasPrefix("/"), !address.hasPrefix("//"), let scheme = url.firstRange(of: "://") else {
            return address
        }
        let host = url[scheme.upperBound...].prefix { $0 != "/" }
        return host.endIndex == url.endIndex ? address : url[..<host.endIndex] + address
    }

    /// Returns the name of an environment variable, such as `PETSTORE` for "Swagger Petstore - OpenAPI 3.0".
    private static func variable(_ title: String) -> String {
        let dull = ["api", "the", "rest", "swagger", "openapi", "v1", "v2", "v3", "of", "for"]
        let words = NameWords.split(title, isASCII: true).filter {
            !dull.contains($0.lowercased()) && $0.first?.isNumber == false
        }
        let name = words.prefix(2).joined(separator: "_").uppercased()
        return name.isEmpty || name.count > 40 ? "API" : name
    }
}
