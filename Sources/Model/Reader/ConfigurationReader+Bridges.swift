extension ConfigurationReader {
    mutating func readBridges(_ member: Member) -> [BridgeConfiguration] {
        (members(of: member.value, "\"bridges\"", at: member.value.mark) ?? []).map { readBridge($0) }
    }

    /// Reads a bridge.
    ///
    /// Its plugin name is empty if the plugin is unknown.
    private mutating func readBridge(_ bridge: Member) -> BridgeConfiguration {
        let what = "bridge \(quoted(bridge.name))"
        var result = BridgeConfiguration(name: bridge.name, plugin: "", location: location(bridge.key.mark))
        if !Naming.isIdentifier(bridge.name.replacing("-", with: "_")) {
            error(
                at: bridge.key.mark, "\(quoted(bridge.name)) is not a valid name for a bridge",
                "use letters A-Z and a-z, digits, _ and -, and do not begin with a digit")
        }
        guard let members = members(of: bridge.value, what, at: bridge.value.mark) else { return result }
        let section = Section(members: members, what: what)
        let isExternal =
            section[BridgeKeys.isolation]?.value.scalarText == BridgeConfiguration.Isolation.external.rawValue
        let plugin = isExternal ? nil : section[BridgeKeys.plugin]?.value.scalarText
        report(
            unknown: members.filter { $0.name != plugin },
            valid: (isExternal ? BridgeKeys.external : BridgeKeys.shape).names + [plugin].compactMap { $0 }, of: what)
        result.absent = value(BridgeKeys.absent, of: section)
        readIsolation(section, into: &result)
        result.retryFor = value(BridgeKeys.retryFor, of: section)
        result.hook = section[BridgeKeys.hook].flatMap { hook($0, of: what) }
        if isExternal {
            readExternal(bridge, members, what, into: &result)
            return result
        }

        if let plugin = section[BridgeKeys.plugin] {
            if let name = text(plugin, of: what), isKnown(plugin: name, at: plugin.value.mark, what) {
                result.plugin = name
            }
        } else {
            let remedy = plugins.map { "add \"plugin:\" with one of: \($0.keys.sorted().joined(separator: ", "))" }
            error(at: bridge.key.mark, "missing key \"plugin\" of \(what)", remedy ?? "add \"plugin:\"")
        }
        if let own = members.first(where: { $0.name == result.plugin }) { readSection(own, of: bridge.name, what) }
        let options = section[BridgeKeys.options]
        let mark = options?.key.mark ?? bridge.key.mark
        let node = mapping(options?.value, mark)
        let subject = "options of \(what)"
        result.options = part(
            node, plugin: result.plugin, schema: plugins?[result.plugin]?.options, subject, at: mark, isOptions: true,
            missing: options == nil ? "options" : nil)
        return result
    }

    private mutating func readIsolation(_ section: Section, into result: inout BridgeConfiguration) {
        let what = section.what
        if let member = section[BridgeKeys.isolation], let name = text(member, of: what) {
            let valid = BridgeConfiguration.Isolation.names
            result.isolation = BridgeConfiguration.Isolation(configured: name)
            if result.isolation == nil {
                error(
                    at: member.value.mark, "the isolation of \(what) cannot be \(quoted(name))",
                    suggestion(for: name, among: valid))
            }
        }
        guard let member = section[BridgeKeys.memory], let size = text(member, of: what) else { return }
        result.memory = Self.bytes(size)
        if result.memory == nil {
            error(
                at: member.value.mark, "the memory of \(what) cannot be \(quoted(size))",
                "write a size of at least 64 MiB, such as 512 MiB or 2 GiB")
        }
        if result.isolation == .external { return }
        if result.isolation == .inProcess {
            error(
                at: member.key.mark, "the memory of \(what) cannot be limited in the program's own process",
                "use \"isolation: process\"")
        } else {
            result.isolation = .process
        }
    }

    /// Returns the bytes of a size such as `512 MiB`; nil for any other text, and below 64 MiB, the minimum for a
    /// bridge.
    private static func bytes(_ text: String) -> Int? {
        let units = ["MiB": 1 << 20, "GiB": 1 << 30]
        guard let unit = units.first(where: { text.hasSuffix($0.key) }),
            let count = Int(text.dropLast(unit.key.count).filter { $0 != " " })
        else { return nil }
        let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.value)
        return overflow || bytes < 64 << 20 ? nil : bytes
    }

    private mutating func isKnown(plugin name: String, at mark: YAMLMark, _ what: String) -> Bool {
        if (EntityKeys.shape.names + SourceKeys.shape.names).contains(name) {
            error(
                at: mark, "the plugin \(quoted(name)) of \(what) has the name of a key of entities",
                "ask the plugin's author for another name")
            return false
        }
        guard let plugins, plugins[name] == nil else { return true }
        let remedy =
            plugins.isEmpty
            ? "no plugin is installed" : suggestion(for: name, among: Array(plugins.keys), what: "installed")
        error(at: mark, "unknown plugin \(quoted(name)) of \(what)", remedy)
        return false
    }

    /// Returns the node, or an empty mapping if it is missing or null.
    func mapping(_ node: YAMLNode?, _ mark: YAMLMark) -> YAMLNode {
        if let node, !node.isNull { return node }
        return YAMLNode(content: .mapping([]), mark: mark, height: 1)
    }

    /// Reads a bridge's options or an entity's section, and validates it against the plugin's schema if known.
    ///
    /// - Parameter missing: The key that the file lacks, if `node` is a placeholder.
    mutating func part(
        _ node: YAMLNode, plugin: String, schema: Result<SchemaDocument, SchemaFault>?, _ subject: String,
        at mark: YAMLMark, isOptions: Bool, missing: String?
    ) -> ConfigValue {
        refusePasswords(in: node, path: "", subject)
        guard case .mapping = node.content else {
            error(
                at: node.mark, "\(subject) must be a mapping, not \(node.kind.rawValue)", "write \"name: value\" lines")
            return .object([])
        }
        let document: SchemaDocument?
        switch schema {
        case .success(let compiled): document = compiled
        case .failure(let fault):
            document = nil
            if reportedPlugins.insert("\(plugin) \(isOptions)").inserted {
                let which = isOptions ? "options" : "entities"
                error(
                    at: mark,
                    "the plugin \(quoted(plugin)) has an invalid schema of its \(which): \(shortened(fault.path)) "
                        + fault.reason, "update the plugin or tell its author")
            }
        case nil: document = nil
        }
        // Without a schema, every mapping that looks like a secret reference is one.
        guard let document = document ?? (try? SchemaDocument(text: "")) else { return .object([]) }
        var validator = SchemaValidator(
            document: document, allowsSecretTexts: isOptions, directory: directory)
        var root = node
        root.mark = mark
        let (value, faults) = validator.validate(root)
        if let missing {
            let required = document.root.required.sorted().map { shortened($0) }.joined(separator: ", ")
            if !faults.isEmpty { error(at: mark, "missing \(subject)", "add \"\(missing):\" with: \(required)") }
        } else {
            for fault in faults { report(fault, subject) }
        }
        if validator.ranOut {
            error(
                at: mark, "\(subject) cannot be checked: the schema of the plugin \(quoted(plugin)) has no end",
                "update the plugin or tell its author")
        }
        return value
    }

    private mutating func report(_ fault: SchemaValidator.Fault, _ subject: String) {
        var subject = subject
        if let section = bridgeSections.values.first(where: { $0.contains(fault.mark) }) {
            // All entities of the bridge have the fault; it is reported once.
            guard reportedMarks.insert(fault.mark).inserted else { return }
            subject = section.what
        }
        let full = fault.path.isEmpty ? subject : "\"\(fault.path)\" in \(subject)"
        switch fault.kind {
        case .type(let expected, let found):
            let secrets =
                "secrets belong to the bridge's options, such as auth; {NAME} in a section stands for what their parameters "
                + "have under NAME, if the plugin supports that"
            // YAML takes NULL, null and ~ for no value.
            let isNullWord =
                found == JSONSchema.Kind.null.words && expected.contains(JSONSchema.Kind.string.words)
            error(
                at: fault.mark, "\(full) must be \(alternatives(expected)), not \(found)",
                fault.isReference ? secrets : isNullWord ? "write a value; a text such as NULL or ~ needs quotes" : nil)
        case .choice(let valid, let given):
            let message = given.map { "\(full) cannot be \(quoted($0))" } ?? "\(full) has a value that is not valid"
            error(at: fault.mark, message, suggestion(for: given ?? "", among: valid))
        case .key(let message, let remedy):
            error(at: fault.mark, "\(message) in \(full)", remedy)
        case .other(let message, let remedy):
            error(at: fault.mark, "\(full) \(message)", remedy)
        }
    }

    /// Rejects passwords in URLs, which would appear in logs and messages.
    private mutating func refusePasswords(in node: YAMLNode, path: String, _ subject: String) {
        switch node.content {
        case .scalar(let text, _):
            guard Self.hasPassword(text) else { return }
            let full = path.isEmpty ? subject : "\"\(path)\" in \(subject)"
            error(
                at: node.mark, "\(full) has a password in its URL",
                "remove \"user:password@\" and use the plugin's own options with {env: NAME} or {file: PATH}")
        case .sequence(let elements):
            for (index, element) in elements.enumerated() {
                refusePasswords(in: element, path: "\(path)[\(index)]", subject)
            }
        case .mapping(let pairs):
            for pair in pairs {
                let name = shortened(pair.key.scalarText ?? "?")
                refusePasswords(in: pair.value, path: path.isEmpty ? name : "\(path).\(name)", subject)
            }
        }
    }

    /// Returns whether the authority of a URL in `text` has `user:password@` (RFC 3986, section 3.2.1).
    static func hasPassword(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[(colon + 1)...]
            guard rest.starts(with: "//".utf8) else { continue }
            let authority = rest.dropFirst(2).prefix { !"/?# \n\t".utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), authority[..<at].contains(UInt8(ascii: ":")) {
                return true
            }
        }
        return false
    }
}
