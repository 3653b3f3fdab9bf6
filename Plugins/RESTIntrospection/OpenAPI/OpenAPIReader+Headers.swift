internal import BridgeJSON
internal import TextFormats

/// The header fields that requests must have.
extension OpenAPIReader {
    /// A header field or a cookie that a request must have.
    struct RequiredField {
        let name: String
        let isCookie: Bool
        /// The document's value; nil if there is none, or if it would be a credential.
        let value: String?

        /// The field in words.
        var words: String { isCookie ? "the cookie \(name)" : "the header field \(name)" }
    }

    /// Header fields that bmo sets itself; what a document says of the first three does not count (OpenAPI 3.1.1,
    /// section 4.8.12.2).
    private static let ownFields: Set<String> = [
        "accept", "content-type", "authorization", "host", "user-agent", "content-length", "accept-encoding",
        "connection", "idempotency-key",
    ]

    /// Returns the header fields and cookies that a request must have.
    func requiredFields(of operation: JSONTree, _ item: JSONTree) -> [RequiredField] {
        described(operation, item).compactMap { parameter -> RequiredField? in
            guard parameter["required"]?.bool == true, let name = parameter["name"]?.text else { return nil }
            switch parameter["in"]?.text {
            case "cookie": return RequiredField(name: name, isCookie: true, value: nil)
            case "header" where !Self.ownFields.contains(name.lowercased()):
                let value = SecretGuess.isHeader(name) ? nil : text(of: parameter)
                return RequiredField(name: name, isCookie: false, value: value)
            default: return nil
            }
        }
    }

    /// Returns the value of a header field that the document has; nil if there is none.
    private func text(of parameter: JSONTree) -> String? {
        let schema = schema(of: parameter)
        let named = parameter["examples"]?.members.first.map { document.resolve($0.value).value }
        let known = [
            schema["default"], schema["const"], schema["enum"]?.elements?.first, parameter["example"],
            schema["example"], named?["value"],
        ]
        // Braces would be those of a variable.
        return known.compactMap { $0?.plainText }.first { !$0.isEmpty && !$0.contains("{") }
    }

    /// Returns the fields that neither the user's options nor those of a part of the API send.
    func unsent(_ fields: [RequiredField], _ part: SecurityGuess.Part?) -> [RequiredField] {
        let options = part?.options ?? security.options
        let auth = options.first { $0.0 == "auth" }?.1
        let others = options.first { $0.0 == "headers" }?.1.members.map(\.name) ?? []
        let names = Set((others + [auth?["header"]?.text].compactMap(\.self)).map { $0.lowercased() })
        return fields.filter { field in
            if field.isCookie { return auth?["cookie"]?.text != field.name }
            return !names.contains(field.name.lowercased()) && !sends(field.name)
        }
    }

    /// Leaves the header fields to the bridge that it sends itself, and reports those without a value.
    func resolveFields(_ offers: inout [(offer: EntityOffer, listing: Listing)]) {
        for index in offers.indices {
            let fields = unsent(offers[index].listing.fields, offers[index].listing.part)
            offers[index].listing.fields = fields
            let missing = fields.filter { $0.value == nil }.map(\.words).joined(separator: ", ")
            guard !missing.isEmpty else { continue }
            offers[index].offer.add(obstacle: "the request needs \(missing): set it under headers")
        }
    }
}

extension [OpenAPIReader.RequiredField] {
    /// The fields with values, as a section has them; nil if there are none.
    var section: JSONTree? {
        let known = compactMap { field in field.value.map { (field.name, JSONTree.text($0)) } }
        return known.isEmpty ? nil : .object(known)
    }
}
