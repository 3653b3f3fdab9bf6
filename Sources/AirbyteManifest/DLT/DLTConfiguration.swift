internal import Model

/// Translates a configuration of dlt's `rest_api` source, a Python dictionary that was saved as JSON.
///
/// The members are those of `RESTAPIConfig` in the PyPI package dlt (`dlt/sources/rest_api/typing.py`).
package enum DLTConfiguration {
    /// - Parameters:
    ///   - text: JSON, or YAML.
    ///   - file: The file's name, for messages.
    ///   - name: The name of the bridge.
    ///   - database: The database's file.
    ///   - command: The command, for the first line.
    /// - Throws: ``ManifestFault`` if it is not such a configuration.
    package static func translate(
        _ text: String, file: String, name: String, database: String, command: String
    ) throws -> Connector.Translation {
        let value = try ManifestText.readDocument(text, name: file)
        guard let client = value["client"], let resources = value["resources"]?.array else {
            throw ManifestFault(
                "\(file) is not a configuration of dlt's rest_api source: it has no client and resources; save the dictionary with json.dump(config, file, default=str)"
            )
        }
        guard let base = client["base_url"]?.string, base.contains("://") else {
            throw ManifestFault(
                "\(file): client.base_url is not a URL; put the URL there, since bmo does not run the Python that computes it"
            )
        }
        let bridges = DLTBridges(name: LocalNames.identifier(name), base: base, client: client)
        let translator = DLTTranslator(
            resources: resources, defaults: value["resource_defaults"] ?? .object([]), client: client, bridges: bridges)
        translator.run()
        var report = ConnectorReport(noun: "resources")
        for draft in translator.drafts { report.add(draft) }
        for resource in translator.lost { report.add(resource.name, .notCarried, [resource.reason]) }
        let known: Set<String> = ["client", "resources", "resource_defaults"]
        var notes = (value.members ?? []).map(\.key).filter { !known.contains($0) }.map { "\($0) is not carried" }
        notes += (client.members ?? []).map(\.key).filter {
            !["base_url", "headers", "auth", "paginator"].contains($0)
        }.map { "client.\($0) is not carried" }
        let writer = ConnectorWriter(
            drafts: translator.drafts, bridges: bridges.bridges, inputs: Inputs(nil, set: []), report: report,
            database: database, command: command, version: nil, origin: .dlt, notes: notes)
        return Connector.Translation(text: writer.text(), report: report)
    }
}
