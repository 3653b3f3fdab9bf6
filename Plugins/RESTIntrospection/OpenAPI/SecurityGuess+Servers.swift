internal import BridgeJSON

/// The API's address, by the document's servers.
extension SecurityGuess {
    /// Returns a server's address with a value for each variable, and the variables with the values that they may have.
    ///
    /// A variable that is a credential stays in braces, and is not among them.
    private static func text(of server: JSONTree, _ template: String) -> (url: String, choices: [(String, [String])]) {
        var url = template
        let names = OpenAPIReader.variables(url).filter { !SecretGuess.isParameter($0) }
        let choices = names.map { name -> (String, [String]) in
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
        func first(_ servers: JSONTree?) -> ServerAddress? {
            servers?.elements?.first.flatMap { server in
                server["url"]?.text.map { ServerAddress(text(of: server, $0).url.trimmingSlash) }
            }
        }
        guard let own = first(servers) else { return "" }
        let shared = first(document.root["servers"]) ?? ServerAddress("")
        guard own.parameters.allSatisfy(shared.parameters.contains) else { return nil }
        guard own.url != shared.url else { return "" }
        let path = own.url.dropFirst(shared.url.count)
        // A variable that is a credential has its value from the environment, as only a whole URL can.
        let isBelow = own.url.hasPrefix(shared.url) && path.first == "/" && !path.contains("{")
        return isBelow && !own.url.hasPrefix("//") ? String(path) : nil
    }

    static func url(_ document: OpenAPIDocument) -> (url: String, note: String?) {
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
