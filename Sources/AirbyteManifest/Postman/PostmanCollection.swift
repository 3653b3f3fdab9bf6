internal import Model

/// Translates a Postman collection (schema 2.0 or 2.1) with saved examples.
///
/// The members are those of `https://schema.getpostman.com/json/collection/v2.1.0/docs/index.html`.
package enum PostmanCollection {
    /// - Parameters:
    ///   - text: JSON.
    ///   - file: The file's name, for messages.
    ///   - name: The name of the bridge.
    ///   - database: The database's file.
    ///   - command: The command, for the first line.
    /// - Throws: ``ManifestFault`` if it is not such a collection.
    package static func translate(
        _ text: String, file: String, name: String, database: String, command: String
    ) throws -> Connector.Translation {
        let value = try ManifestText.readDocument(text, name: file)
        guard value["info"]?["schema"]?.string?.contains("collection/v2") == true, value["item"]?.array != nil else {
            throw ManifestFault(
                "\(file) is not a Postman collection of version 2: export it from Postman as Collection v2.1")
        }
        let variables = PostmanVariables(value["variable"]?.array ?? [])
        let translator = PostmanTranslator(name: LocalNames.identifier(name), variables: variables)
        var requests: [PostmanRequest] = []
        collect(value["item"]?.array ?? [], "", value["auth"], variables, into: &requests)
        guard requests.count <= 5000 else { throw ManifestFault("\(file) has more than 5,000 requests") }
        translator.run(requests)
        var report = ConnectorReport(noun: "requests")
        for draft in translator.drafts { report.add(draft) }
        for request in translator.lost { report.add(request.name, .notCarried, [request.reason]) }
        let scripts = (value["event"]?.array ?? []).isEmpty ? [] : ["the scripts of the collection are not run"]
        let writer = ConnectorWriter(
            drafts: translator.drafts, bridges: translator.bridges, inputs: Inputs(nil, set: []), report: report,
            database: database, command: command, version: nil, origin: .postman, notes: scripts)
        return Connector.Translation(text: writer.text(), report: report)
    }

    /// Collects the requests of folders, which may have an authentication of their own.
    private static func collect(
        _ items: [ConfigValue], _ folder: String, _ auth: ConfigValue?, _ variables: PostmanVariables,
        into requests: inout [PostmanRequest]
    ) {
        for item in items {
            let name = (folder.isEmpty ? "" : folder + " / ") + (item["name"]?.string ?? "request")
            if let inner = item["item"]?.array {
                collect(inner, name, item["auth"] ?? auth, variables, into: &requests)
            } else if let request = item["request"] {
                requests.append(PostmanRequest(item, request, name: name, auth: request["auth"] ?? auth, variables))
            }
        }
    }
}
