internal import Model

/// Writes the configuration with its comments.
struct ConnectorWriter {
    let drafts: [EntityDraft]
    let bridges: [BridgeDraft]
    let inputs: Inputs
    let report: ConnectorReport
    let database: String
    let command: String
    let version: String?
    var origin = Origin.airbyte
    /// Comments at the head of the file.
    var notes: [String] = []

    /// What the configuration was made from, in words.
    enum Origin: String {
        case airbyte = "an Airbyte connector"
        case dlt = "a dlt configuration"
        case postman = "a Postman collection"

        /// The comment of an entity without a key.
        var noKey: String {
            switch self {
            case .airbyte: "the connector names no key: each sync appends all records that it fetches"
            case .postman: "no key is known: each sync appends all records that it fetches"
            case .dlt: "the resource names no primary_key: each sync appends all records that it fetches"
            }
        }
    }

    func text() -> String {
        let counts = ConnectorReport.Verdict.allCases.map { "\(report.count($0)) \($0.rawValue)" }
        var lines = [
            "# Written by \(YAMLText.line(command))",
            "# From \(origin.rawValue)\(version.map { " (version \(YAMLText.line($0)) of the declarative components)" } ?? ""): "
                + counts.joined(separator: ", ") + ".",
            "# Comments say what differs from \(origin == .airbyte ? "the connector" : "it"), and why. Next: bmo check && bmo sync",
        ]
        lines += notes.map { "# \(YAMLText.line($0))" }
        for (path, value) in inputs.examples {
            lines.append(
                "# The input \(YAMLText.line(path)) has an example value: \(YAMLText.line(value.printed)); "
                    + "--set \(YAMLText.line(path))=VALUE changes it."
            )
        }
        for choice in inputs.choices { lines.append("# Another choice: \(YAMLText.line(choice))") }
        lines += ["version: 1", "database: \(YAMLText.scalar(database))", "", "bridges:"]
        let ready = drafts.filter(\.isCarried)
        for bridge in bridges { lines += self.bridge(bridge).map { "  " + $0 } }
        if bridges.isEmpty { lines[lines.count - 1] = "bridges: {}" }
        lines += ["", ready.isEmpty ? "entities: {}" : "entities:"]
        for draft in ready { lines += entity(draft).map { $0.isEmpty ? "" : "  " + $0 } }
        let rest = drafts.filter { !$0.isCarried }
        if !rest.isEmpty { lines += ["", "  # Not carried:"] }
        for draft in rest {
            lines.append("  # \(YAMLText.scalar(draft.name)):")
            for obstacle in ConnectorReport.obstacles(of: draft) + draft.doubts {
                lines.append("  #   # \(YAMLText.line(obstacle))")
            }
            lines += entity(draft).dropFirst().filter {
                !$0.isEmpty && !$0.hasPrefix("#") && !$0.hasPrefix("\(YAMLText.scalar(draft.name)):")
            }
            .map { "  # " + $0 }
        }
        for stream in report.streams
        where stream.verdict == .notCarried && !drafts.contains(where: { $0.stream == stream.name }) {
            lines.append("  # \(YAMLText.line(stream.name)): \(YAMLText.line(stream.reasons.joined(separator: "; ")))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func bridge(_ bridge: BridgeDraft) -> [String] {
        var lines = ["\(YAMLText.scalar(bridge.name)):", "  plugin: rest", "  options:"]
        lines += bridge.notes.map { "    # \(YAMLText.line($0))" }
        lines.append("    url: \(YAMLText.scalar(bridge.url))")
        if !bridge.auth.isEmpty { lines += YAMLText.lines("auth", .object(bridge.auth)).map { "    " + $0 } }
        for obstacle in bridge.obstacles { lines.append("    # \(YAMLText.line(obstacle))") }
        if !bridge.parameters.isEmpty {
            lines += YAMLText.lines("parameters", .object(bridge.parameters)).map { "    " + $0 }
        }
        if !bridge.limits.isEmpty { lines += YAMLText.lines("limits", .object(bridge.limits)).map { "    " + $0 } }
        return lines
    }

    private func entity(_ draft: EntityDraft) -> [String] {
        var lines = [""]
        if !draft.isStream { lines.append("# Not a stream of the connector: the parent of one.") }
        lines += draft.notes.map { "# \(YAMLText.line($0))" }
        lines += draft.doubts.map { "# doubt: \(YAMLText.line($0))" }
        lines += [
            "\(YAMLText.scalar(draft.name)):",
            "  bridge: \(YAMLText.scalar(draft.bridge.isEmpty ? "TODO" : draft.bridge))",
        ]
        if draft.key.isEmpty {
            lines.append("  unique: none  # \(origin.noKey)")
        } else {
            let key: ConfigValue = draft.key.count == 1 ? .string(draft.key[0]) : .array(draft.key.map { .string($0) })
            lines.append("  key: \(YAMLText.flow(key))" + comment(draft.keyComment))
        }
        if let parent = draft.parent {
            let name = YAMLText.scalar(parent.relationship)
            let value = draft.scansChangedParents ? "{relationship: \(name), changed: true}" : name
            lines.append("  parent: \(value)" + comment(parent.comment))
        }
        if let deletes = draft.deletes {
            lines.append("  deletes: \(deletes)  # as dlt; without this line, a complete listing deletes what it lacks")
        }
        if !draft.incremental.isEmpty { lines.append("  incremental: \(YAMLText.flow(.object(draft.incremental)))") }
        if draft.keepsExtra { lines.append("  extra: true") }
        if !draft.attributes.isEmpty { lines.append("  attributes:") }
        for attribute in draft.attributes {
            lines.append(
                "    \(YAMLText.scalar(attribute.name)): \(definition(attribute))" + comment(attribute.comment))
        }
        if let parent = draft.parent {
            lines += ["  relationships:", "    \(parent.relationship): {to: \(YAMLText.scalar(parent.draft.name))}"]
        }
        lines.append("  rest:")
        lines += draft.sectionNotes.map { "    # \(YAMLText.line($0))" }
        var settings = draft.settings
        if !draft.requestFields.isEmpty {
            settings.append(EntityDraft.Setting(name: "request_fields", value: .object(draft.requestFields)))
        }
        for setting in settings {
            lines += YAMLText.lines(setting.name, setting.value, comment: setting.comment).map { "    " + $0 }
        }
        return lines
    }

    private func definition(_ attribute: EntityDraft.Attribute) -> String {
        var members: [(key: String, value: ConfigValue)] = [("type", .string(attribute.type))]
        if let path = attribute.path, path != .string(attribute.name) { members.append(("from", path)) }
        if let constant = attribute.constant { members.append(("constant", constant)) }
        if let transform = attribute.transform { members.append(("transform", transform)) }
        return members.count == 1 ? attribute.type : YAMLText.flow(.object(members))
    }

    private func comment(_ text: String?) -> String { text.map { "  # " + YAMLText.line($0) } ?? "" }
}
