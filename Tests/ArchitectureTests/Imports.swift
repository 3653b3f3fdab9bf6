/// Which target may see which: the arrows of the design.
///
/// `BMO` joins the host and the importer, which do not know each other; a plugin sees the kit and its own transport. One
/// target sees the database, and only the program sees that target: all others use the protocols of `StoreContract`.
enum Imports {
    /// What a target may import besides the modules of the platform.
    struct Rule {
        let allowed: Set<String>
        /// Foundation costs start-up time and memory: what runs in each plugin, and the data path, do without it.
        let allowsFoundation: Bool

        init(_ allowed: String..., foundation: Bool = false) {
            self.allowed = Set(allowed)
            allowsFoundation = foundation
        }
    }

    static let platform: Set<String> = [
        "Swift", "Glibc", "Musl", "Darwin", "Dispatch", "Observation",
    ]

    static let rules: [String: Rule] = [
        "TextFormats": Rule("SystemCalls"),
        "SystemCalls": Rule("CAtomicWord"),
        "Digests": Rule("CLibCrypto", "TextFormats"),
        "RecordBatch": Rule("CBridge", "TextFormats"),
        "BridgeContract": Rule("RecordBatch", "TextFormats"),
        "BridgeRecording": Rule("BridgeContract", "RecordBatch", "SystemCalls", "TextFormats"),
        "BridgeKit": Rule(
            "BridgeContract", "BridgeRecording", "CBridge", "RecordBatch", "SystemCalls", "TextFormats"),
        "BridgeKitFoundation": Rule("BridgeKit", "RecordBatch", foundation: true),
        "BridgeHTTP": Rule(
            "BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats", "CCurl", "CLibCrypto", "CZlib"),
        "BridgeJSON": Rule("BridgeKit", "JSONBatch", "RecordBatch", "TextFormats"),
        "BridgeXML": Rule("BridgeKit", "CLibXML2"),
        "BridgePaging": Rule("BridgeJSON", "BridgeKit", "SystemCalls", "TextFormats"),
        "RowFormats": Rule(
            "BridgeJSON", "BridgeKit", "BridgeXML", "RecordBatch", "TextFormats", "CCSV", "CZip", "CZlib"),
        "Inference": Rule("RecordBatch"),
        "RESTIntrospection": Rule("BridgeContract", "BridgeHTTP", "BridgeJSON", "Inference", "TextFormats"),
        "RESTBridge": Rule(
            "BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats", "BridgeHTTP", "BridgeJSON",
            "BridgePaging", "Inference", "RESTIntrospection", "RowFormats"),
        "SOAPBridge": Rule(
            "BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats", "BridgeHTTP", "BridgeXML",
            "Digests", "Inference"),
        "RESTPlugin": Rule("BridgeKit", "CBridge", "RESTBridge"),
        "SOAPPlugin": Rule("BridgeKit", "CBridge", "SOAPBridge"),
        "SMBBridge": Rule(
            "BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats", "Digests", "Inference", "RowFormats",
            "CSMBClient"),
        "SingerBridge": Rule("BridgeKit", "CBridge", "RecordBatch", "SystemCalls", "TextFormats"),
        "BridgeHost": Rule(
            "BridgeContract", "CBridge", "CBridgeGuard", "CBridgeProcess", "Digests", "RecordBatch", "SystemCalls",
            "TextFormats", "Logging"),
        "BridgeConformance": Rule(
            "BMO", "BridgeHost", "Importer", "Mapping", "Model", "RecordBatch", "SystemCalls", "TextFormats",
            "StoreContract", "Yams",
            "Logging",
            foundation: true),
        "Model": Rule("SystemCalls", "TextFormats", "Yams", "CYaml"),
        "SwiftModels": Rule("Model"),
        "bmo-models": Rule("Model", "SwiftModels", "SystemCalls"),
        "BMOModels": Rule("PackagePlugin", "bmo-models", foundation: true),
        "BMOTesting": Rule(
            "BMO", "BridgeHost", "BridgeKit", "Logging", "MemoryStore", "Model", "RecordBatch", "StoreContract",
            "SystemCalls", foundation: true),
        "AirbyteManifest": Rule("Model", "TextFormats", "Yams"),
        "Mapping": Rule("Model", "RecordBatch", "TextFormats", "CTime"),
        "StoreContract": Rule("Model", "Mapping", "RecordBatch", "SystemCalls", "TextFormats"),
        "StoreRules": Rule("Model", "Mapping", "RecordBatch", "StoreContract", "SystemCalls", "TextFormats"),
        "MemoryStore": Rule(
            "Model", "Mapping", "RecordBatch", "StoreContract", "StoreRules", "SystemCalls", "TextFormats"),
        "StoreConformance": Rule("Model", "Mapping", "StoreContract", "SystemCalls"),
        "Importer": Rule("Model", "Mapping", "RecordBatch", "StoreContract"),
        "SQLiteStore": Rule(
            "Model", "Mapping", "StoreContract", "StoreRules", "RecordBatch", "SystemCalls", "TextFormats", "GRDB",
            "GRDBSQLite"),
        "PostgreSQLStore": Rule(
            "CPQ", "Model", "Mapping", "RecordBatch", "StoreContract", "StoreRules", "SystemCalls", "TextFormats"),
        "BMO": Rule(
            "BridgeContract", "Model", "Mapping", "Importer", "StoreContract", "BridgeHost", "RecordBatch",
            "SystemCalls", "TextFormats", "Logging", "Metrics", "Tracing",
            foundation: true),
        "WebServer": Rule("NIOCore", "NIOHTTP1", "NIOPosix", "SystemCalls", "TextFormats"),
        "WebPage": Rule(
            "BMO", "BridgeHost", "Digests", "Importer", "Mapping", "Model", "RecordBatch", "StoreContract",
            "SystemCalls",
            "TextFormats", "WebServer"),
        "BMOCommand": Rule(
            "AirbyteManifest", "BMO", "BridgeConformance", "BridgeHost", "CZip", "Importer", "Mapping", "Model",
            "RecordBatch", "StoreContract", "SwiftModels", "SystemCalls", "TextFormats", "WebPage", "WebServer",
            "ArgumentParser",
            "Logging", "Tracing", foundation: true),
        "bmo": Rule("BMOCommand", "Mapping", "PostgreSQLStore", "SQLiteStore", "StoreContract"),
        "JSONBatch": Rule("CBridge"),
        "CBridge": Rule(), "CBridgeGuard": Rule(), "CBridgeProcess": Rule(), "CCurl": Rule(), "CLibXML2": Rule(),
        "CSMBClient": Rule(), "CPQ": Rule(),
        "CAtomicWord": Rule(), "CCSV": Rule(), "CTime": Rule(),
        "CLibCrypto": Rule(), "CZlib": Rule(), "CZip": Rule(),
    ]

    /// What is wrong with the imports of a source file of a target.
    static func violations(in source: String, of target: String) -> [String] {
        guard let rule = rules[target] else {
            return ["\(target) has no rule: say in Imports.swift what it may import"]
        }
        return modules(importedBy: source).compactMap { module in
            if rule.allowed.contains(module) || platform.contains(module) { return nil }
            if module == "Foundation", rule.allowsFoundation { return nil }
            return "\(target) imports \(module)"
        }
    }

    /// What is wrong with the dependencies that the manifest gives a target.
    static func violations(of dependencies: [String], of target: String) -> [String] {
        guard let rule = rules[target] else {
            return ["\(target) has no rule: say in Imports.swift what it may import"]
        }
        return dependencies.filter { !rule.allowed.contains($0) }.map { "\(target) depends on \($0)" }
    }

    /// The modules of the import lines, submodules and kinds of declarations left out.
    static func modules(importedBy source: String) -> [String] {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
        let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
        // Two levels deep an import stands in a text, such as the files of a scaffold.
        return source.split(separator: "\n").filter { !$0.hasPrefix("        ") }.compactMap { line in
            var words = line.split(whereSeparator: \.isWhitespace)[...]
            while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) { words.removeFirst() }
            guard words.popFirst() == "import" else { return nil }
            if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
            return words.first.map { String($0.prefix { $0 != "." && $0 != ";" }) }
        }
    }
}
