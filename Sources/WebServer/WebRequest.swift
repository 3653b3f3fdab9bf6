internal import TextFormats

/// A complete HTTP request.
package struct WebRequest: Sendable {
    /// The method in capitals, such as `GET`.
    package var method: String
    /// The parts of the path, each decoded from its percent-encoding; empty for `/`.
    ///
    /// A `=` at the beginning of a part is removed, so that an address can have the parts `.`, `..` and an empty one.
    /// A part may contain `/` or be `..`: it is data, and never a path in a file system.
    package var path: [String]
    /// The names and values of the query, decoded, in order.
    package var query: FormFields
    /// The header fields, with names in lower case, in order.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]

    /// Creates a request.
    ///
    /// - Parameter target: The request target in origin form (RFC 9112, section 3.2.1), such as `/a/b?c=d`.
    /// - Returns: nil for a target of another form, or one that is not valid percent-encoded UTF-8.
    package init?(
        method: String, target: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []
    ) {
        guard target.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let text = part.first == "=" ? part.dropFirst() : part
            guard let decoded = PercentEncoding.strictlyDecoded(text) else { return nil }
            path.append(decoded)
        }
        if parts[0].last == "/" { path.removeLast() }
        self.method = method
        self.path = path
        query = FormFields(parts.count > 1 ? parts[1] : "")
        self.headers = headers.map { ($0.name.lowercased(), $0.value) }
        self.body = body
    }

    /// Returns the value of a header field that occurs once; nil if it is absent or occurs several times.
    ///
    /// - Parameter name: The name in lower case.
    package func header(_ name: String) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    /// Returns whether a header field occurs.
    package func hasHeader(_ name: String) -> Bool { headers.contains { $0.name == name } }

    /// The fields of a form in the body; nil if the body is not an `application/x-www-form-urlencoded` form.
    package var form: FormFields? {
        guard let type = header("content-type")?.lowercased(),
            type.split(separator: ";").first.map({ $0.filter { $0 != " " } }) == "application/x-www-form-urlencoded",
            let text = String(validUTF8: body)
        else { return nil }
        return FormFields(text)
    }

    /// The cookies by name (RFC 6265, section 5.4); a name that occurs several times has its first value.
    package var cookies: [String: String] {
        var cookies: [String: String] = [:]
        for (name, value) in headers where name == "cookie" {
            for pair in value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { continue }
                let name = String(parts[0].drop { $0 == " " })
                cookies[name] = cookies[name] ?? String(parts[1])
            }
        }
        return cookies
    }
}

/// The names and values of a query or of a form (application/x-www-form-urlencoded).
package struct FormFields: Sendable, Equatable {
    /// A name with its value.
    package struct Field: Sendable, Equatable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String
    }

    /// The fields, in order.
    package var fields: [Field]

    /// Parses the text of a query or a form.
    package init(_ text: some StringProtocol) {
        fields = PercentEncoding.pairs(text).map { Field(name: $0.name, value: $0.value) }
    }

    /// The first value of a name.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Returns all values of a name, in order.
    package func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}
