/// What holds for every source file, and for every target's folder.
enum SourceRules {
    /// The most lines of a file.
    static let maxLines = 500

    /// Files that are longer for a reason.
    static let longFiles = [
        // One file, so that a stranger can compile it with one command.
        "Tests/CountingBridge/counting_bridge.c"
    ]

    /// Names that no source may use but those of the target, with what to use.
    private static let names: [(name: String, except: String?, instead: String)] = [
        ("FoundationNetworking", nil, "BridgeHTTP"), ("URLSession", nil, "BridgeHTTP"),
        ("XMLParser", nil, "libxml2's SAX"), ("XMLDocument", nil, "libxml2's SAX"),
        ("JSONSerialization", "BMOCommand", "BridgeJSON or RecordBatch"),
        ("JSONDecoder", "BMOCommand", "BridgeJSON or RecordBatch"),
        ("JSONEncoder", "BMOCommand", "RecordBatchWriter"),
    ]

    /// What is wrong with a file of Sources or Plugins.
    static func violations(in text: String, path: String, of target: String) -> [String] {
        let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        return names.filter { $0.except != target && words.contains(Substring($0.name)) }
            .map { "\(path): uses \($0.name); use \($0.instead)" }
    }

    /// Where an async closure gives a tuple to generic code: Swift 6.3.1 with -O loses its first element (decision 0028).
    private static let tupleResults = [
        #"TaskGroup\(\s*of:\s*\("#, #"TaskGroup<\("#, #"Task<\("#,
        #"(Task(\.detached)?|addTask)(\([^()]*\))?\s*\{[^{}\n]*->\s*\([^()]*,"#,
        #"addTask(\([^()]*\))?\s*\{\s*(\[[^\]]*\]\s*in\s*)?(return\s+)?\([^()]*,"#,
        #"\{[^{}\n]*\)\s*async(\s+throws(\([^()]*\))?)?\s*->\s*\([^()]*,"#,
    ]

    /// What is wrong with a file in which a task's result is a tuple.
    static func tupleViolations(in text: String, path: String) throws -> [String] {
        let expressions = try tupleResults.map { try Regex($0) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { index in
            // Most lines are skipped the expressions.
            guard lines[index].contains("Task") || lines[index].contains("async") else { return nil }
            // A declaration may go on in the next line.
            let place = lines[index...].prefix(2).joined(separator: "\n")
            let end = place.firstIndex(of: "\n") ?? place.endIndex
            let isBad = expressions.contains { place.firstMatch(of: $0).map { $0.range.lowerBound < end } ?? false }
            return isBad
                ? "\(path):\(index + 1): a task's result is a tuple; return a struct (docs/decisions/0028)" : nil
        }
    }

    /// Nil when a file is not too long.
    static func lengthViolation(in text: String, path: String) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        guard lines > maxLines, !longFiles.contains(path) else { return nil }
        return "\(path): \(lines) lines; split it at \(maxLines)"
    }

    /// The file that explains a target, where it is not `TARGET.swift`.
    private static let mainFiles = [
        "BridgeKit": "Bridge.swift", "BridgeHTTP": "HTTPClient.swift", "BridgeJSON": "JSONPath.swift",
        "BridgeXML": "XMLPushParser.swift", "Mapping": "Mapper.swift",
        "Importer": "PageImport.swift", "BMO": "Workspace.swift", "BridgeConformance": "ConformanceRun.swift",
        "bmo": "main.swift", "bmo-models": "main.swift",
        "CBridge": "include/bmo_bridge.h", "JSONBatch": "include/json_batch.h", "CCurl": "shim.h",
        "CLibXML2": "shim.h", "CSMBClient": "shim.h", "CCSV": "shim.h", "CTime": "shim.h",
        "CAtomicWord": "shim.h", "CZlib": "shim.h",
        "CZip": "shim.h", "CLibCrypto": "shim.h", "CPQ": "include/cpq.h", "CBridgeProcess": "shim.h",
        "CBridgeGuard": "include/bridge_guard.h",
    ]

    /// What is wrong with a target's folder: its main file begins with a comment, or has one on its first declaration.
    static func folderViolation(of target: String, files: [String: String]) -> String? {
        let name = mainFiles[target] ?? "\(target).swift"
        guard let text = files["README.md"] ?? files[name] else {
            return "\(target): neither README.md nor \(name) explains it"
        }
        if files["README.md"] != nil { return nil }
        let first = text.split(separator: "\n").map { $0.drop { $0 == " " } }.first { line in
            ![
                "import ", "public import ", "internal import ", "#ifndef ", "#define ", "#include ", "#if ", "#else",
                "#endif",
            ].contains {
                line.hasPrefix($0)
            }
        }
        guard let first, ["/*", "///", "//"].contains(where: { first.hasPrefix($0) }) else {
            return "\(target): \(name) does not begin with a comment that explains it"
        }
        return nil
    }
}
