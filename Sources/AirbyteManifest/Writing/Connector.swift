internal import Model

/// Translates an Airbyte connector into a configuration.
package enum Connector {
    /// The result of a translation.
    package struct Translation: Sendable {
        /// The configuration.
        package let text: String
        package let report: ConnectorReport
    }

    /// - Parameters:
    ///   - files: The texts of the connector's files by path: the manifest, its schemas, a `spec.yaml`.
    ///   - name: The connector's name, which becomes that of the bridge.
    ///   - set: Inputs that the user gave, by dotted names.
    ///   - database: The database's file.
    ///   - command: The command, for the first line.
    /// - Throws: ``ManifestFault`` if there is no manifest, or it cannot be read.
    package static func translate(
        files: [String: String], name: String, set: [(name: String, value: String)], database: String, command: String
    ) throws -> Translation {
        guard let path = manifestPath(in: files), let text = files[path] else {
            throw ManifestFault(
                "the connector has no manifest.yaml: it is written in Python, which bmo cannot read; try bmo introspect rest --openapi or --sample with its API"
            )
        }
        let raw = try ManifestText.read(text, name: path)
        guard raw["streams"] != nil || raw["dynamic_streams"] != nil else {
            throw ManifestFault("\(path) is not a declarative connector: it has neither streams nor dynamic_streams")
        }
        var references = References(raw)
        let manifest = try Parameters.propagated(
            try references.resolved(raw.removing("definitions")).setting("type", "DeclarativeSource"))
        let inputs = Inputs(try specification(manifest, files), set: set)
        let scope = Scope(inputs: inputs)
        let bridges = BridgeList(name: LocalNames.identifier(name), limits: Budget.limits(manifest, scope))
        let translator = StreamTranslator(bridges: bridges, files: files, scope)
        var lost: [(name: String, reason: String)] = []
        for stream in try streams(manifest["streams"]?.array ?? [], scope) {
            translator.translate(stream, isStream: true)
        }
        for dynamic in manifest["dynamic_streams"]?.array ?? [] {
            do {
                for stream in try DynamicStreams.streams(of: dynamic, scope) {
                    translator.translate(try Parameters.propagated(stream), isStream: true)
                }
            } catch {
                lost.append((dynamic["name"]?.string ?? "dynamic streams", reason(error)))
            }
        }
        var report = ConnectorReport()
        for draft in translator.drafts where draft.isStream { report.add(draft) }
        for stream in lost { report.add(stream.name, .notCarried, [stream.reason]) }
        let writer = ConnectorWriter(
            drafts: translator.drafts, bridges: bridges.bridges, inputs: inputs, report: report,
            database: database, command: command, version: manifest["version"]?.printed)
        return Translation(text: writer.text(), report: report)
    }

    /// The streams, without those of conditions that are false.
    private static func streams(_ list: [ConfigValue], _ scope: Scope) throws -> [ConfigValue] {
        list.flatMap { stream -> [ConfigValue] in
            guard stream.type == "ConditionalStreams" else { return [stream] }
            let condition = (try? Template(stream["condition"]?.printed ?? "", scope.with(stream)))?.known
            return condition?.isTruthy == false ? [] : stream["streams"]?.array ?? []
        }
    }

    private static func manifestPath(in files: [String: String]) -> String? {
        let paths = files.keys.filter {
            $0.split(separator: "/").last.map { ["manifest.yaml", "manifest.yml"].contains($0) } ?? false
        }
        return paths.min { ($0.split(separator: "/").count, $0) < ($1.split(separator: "/").count, $1) }
            ?? (files.count == 1 ? files.keys.first : nil)
    }

    private static func specification(_ manifest: ConfigValue, _ files: [String: String]) throws -> ConfigValue? {
        if let found = manifest["spec"]?["connection_specification"] { return found }
        let path = files.keys.sorted().first { path in
            ["spec.yaml", "spec.yml", "spec.json"].contains(String(path.split(separator: "/").last ?? ""))
        }
        guard let path, let text = files[path] else { return nil }
        let value = try ManifestText.read(text, name: path)
        return value["connectionSpecification"] ?? value["connection_specification"]
    }
}
