package import BridgeJSON
internal import Inference

/// The bridge options that a document's servers and security schemes call for.
package struct SecurityGuess {
    package private(set) var options: [(String, JSONTree)] = []
    package private(set) var notes: [String] = []

    /// The schemes that the options satisfy.
    private var chosen: Set<String> = []
    /// The document's own requirements, for operations without any.
    private let shared: [[String]]

    /// Guesses the options of a document.
    package init(_ document: OpenAPIDocument) {
        let (url, note) = Self.url(document)
        options.append(("url", .text(url)))
        if let note { notes.append(note) }
        let schemes =
            (document.isSwagger2
            ? document.root["securityDefinitions"] : document.root["components"]?["securitySchemes"])?
            .members.map { ($0.name, document.resolve($0.value).value) } ?? []
        shared = Self.alternatives(document.root["security"])
        // Prefer what the whole document requires, then what its operations require. Browser sessions come last.
        let known = shared + Self.requiredByOperations(document) + schemes.map { [$0.0] }
        func scheme(_ name: String) -> JSONTree? { schemes.first { $0.0 == name }?.1 }
        func isSession(_ names: [String]) -> Bool { names.contains { scheme($0)?["in"]?.text == "cookie" } }
        let prefix = Self.variable(document.title)
        var refused: Set<String> = []
        for names in known.filter({ !isSession($0) }) + known.filter(isSession) {
            let parts = names.compactMap(scheme)
            guard parts.count == names.count, let first = names.first else { continue }
            guard let auth = Self.auth(parts[0], prefix: prefix, url: url),
                let fields = Self.fields(parts.dropFirst(), prefix: prefix)
            else {
                if names.count == 1, refused.insert(first).inserted {
                    notes.append("auth: the security scheme \(first) is of a kind that the options do not support")
                }
                continue
            }
            options.append(("auth", auth))
            if !fields.isEmpty { options.append(("headers", .object(fields))) }
            chosen = Set(names)
            let others = schemes.map(\.0).filter { !names.contains($0) }
            notes.append(
                "auth: medium: security scheme \(names.joined(separator: " with "))"
                    + (others.isEmpty ? "" : "; others: \(others.joined(separator: ", "))"))
            return
        }
    }

    /// Returns what an operation requires and the options do not satisfy, in words; nil if they do.
    func lack(of operation: JSONTree) -> String? {
        let own = operation["security"].map(Self.alternatives) ?? shared
        guard !chosen.isEmpty, !own.isEmpty, !own.contains(where: { chosen.isSuperset(of: $0) }) else { return nil }
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

    /// Returns a server's address with a value for each variable, and the variables with the values that they may have.
    private static func text(of server: JSONTree, _ template: String) -> (url: String, choices: [(String, [String])]) {
        var url = template
        let choices = OpenAPIReader.variables(url).map { name -> (String, [String]) in
            let variable = server["variables"]?[name]
            let values = (variable?["enum"]?.elements ?? []).compactMap(\.text)
            url = url.replacing(
                "{\(name)}", with: variable?["default"].map { $0.text ?? $0.json } ?? values.first ?? name)
            return (name, values.count > 12 ? Array(values.prefix(12)) + ["..."] : values)
        }
        return (url, choices)
    }

    /// Returns the path of an operation's own server below that of the document; nil if it is another server.
    ///
    /// It is empty where the operation has none of its own.
    static func path(of servers: JSONTree?, in document: OpenAPIDocument) -> String? {
        func first(_ servers: JSONTree?) -> String? {
            servers?.elements?.first.flatMap { server in
                server["url"]?.text.map { text(of: server, $0).url.trimmingSlash }
            }
        }
        guard let own = first(servers) else { return "" }
        let shared = first(document.root["servers"]) ?? ""
        guard own != shared else { return "" }
        return own.hasPrefix(shared) && own.dropFirst(shared.count).first == "/" && !own.hasPrefix("//")
            ? String(own.dropFirst(shared.count)) : nil
    }

    private static func url(_ document: OpenAPIDocument) -> (url: String, note: String?) {
        let root = document.root
        let origin = document.location.flatMap { location -> (scheme: String, origin: String)? in
            guard let scheme = location.firstRange(of: "://") else { return nil }
            let host = location[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
            return (String(location[..<scheme.lowerBound]), "\(location[..<scheme.lowerBound])://\(host)")
        }
        let example = "https://api.example.com"
        let missing = "url: low: the document names no server: put in the API's address"
        if document.isSwagger2 {
            let base = (root["basePath"]?.text ?? "").trimmingSlash
            guard let host = root["host"]?.text, !host.isEmpty else {
                return origin.map {
                    ($0.origin + base, "url: low: the document names no host: taken from the document's own address")
                }
                    ?? (example + base, missing)
            }
            let schemes = (root["schemes"]?.elements ?? []).compactMap(\.text)
            let scheme = schemes.contains("https") ? "https" : schemes.first ?? origin?.scheme ?? "https"
            return ("\(scheme)://\(host)\(base)", nil)
        }
        let servers = root["servers"]?.elements ?? []
        guard let server = servers.first, var url = server["url"]?.text else {
            return origin.map {
                ($0.origin, "url: low: the document names no server: taken from the document's own address")
            } ?? (
                example, missing
            )
        }
        let (text, choices) = Self.text(of: server, url)
        url = text
        var note: String? =
            choices.isEmpty
            ? nil
            : "url: medium: the server's address has "
                + choices.map { name, values in
                    "the variable \(name)" + (values.isEmpty ? "" : " (\(values.joined(separator: ", ")))")
                }.joined(separator: " and ")
        if !url.contains("://") {
            let path = url.hasPrefix("/") ? url : "/" + url.drop { $0 == "." || $0 == "/" }
            if url.hasPrefix("//") { return ("https:" + url, note) }
            return origin.map { ($0.origin + path, note) } ?? (example + path, missing)
        }
        if servers.count > 1 { note = note ?? "url: medium: the first of \(servers.count) servers" }
        return (url.trimmingSlash, note)
    }
}
