/// What holds for every source file, and for every target's folder.
enum SourceRules {
    /// The most lines of a file.
    static let mostLines = 500

    /// Files that are longer for a reason.
    static let longFiles = [
        // One file, so that a stranger can compile it with one command.
        "Tests/CountingBridge/counting_bridge.c"
    ]

    /// Names that no source may use but those of the target, with what to use.
    private static let names: [(name: String, except: String?, instead: String)] = [
        ("FoundationNetworking", nil, "BridgeHTTP"), ("URLSession", nil, "BridgeHTTP"),
        ("XMLParser", nil, "libxml2's SAX"), ("XMLDocument", nil, "libxml2's SAX"),
        ("JSONSerialization", "BMOCommand", "CSimdJSON or RecordBatch"),
        ("JSONDecoder", "BMOCommand", "CSimdJSON or RecordBatch"),
        ("JSONEncoder", "BMOCommand", "RecordBatchWriter"),
    ]

    /// What is wrong with a file of Sources or Plugins.
    static func violations(in text: String, path: String, of target: String) -> [String] {
        let words = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        return names.filter { $0.except != target && words.contains(Substring($0.name)) }
            .map { "\(path): uses \($0.name); use \($0.instead)" }
    }

    /// Nil when a file is not too long.
    static func lengthViolation(in text: String, path: String) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        guard lines > mostLines, !longFiles.contains(path) else { return nil }
        return "\(path): \(lines) lines; split it at \(mostLines)"
    }

    /// The file that explains a target, where it is not `TARGET.swift`.
    private static let mainFiles = [
        "BridgeKit": "Bridge.swift", "BridgeHTTP": "HTTPClient.swift", "BridgeJSON": "JSONPath.swift",
        "BridgeXML": "XMLPushParser.swift", "Mapping": "Mapper.swift",
        "Importer": "PageImport.swift", "BMO": "Workspace.swift", "BridgeConformance": "ConformanceRun.swift",
        "bmo": "main.swift",
        "CBridge": "include/bmo_bridge.h", "CSimdJSON": "include/json_batch.h", "CCurl": "shim.h",
        "CLibXML2": "shim.h", "CSMBClient": "shim.h", "CCSV": "shim.h", "CTime": "shim.h", "CZlib": "shim.h",
        "CZip": "shim.h", "CLibCrypto": "shim.h", "CBridgeProcess": "shim.h",
    ]

    /// What is wrong with a target's folder: its main file begins with a comment, or has one on its first declaration.
    static func folderViolation(of target: String, files: [String: String]) -> String? {
        let name = mainFiles[target] ?? "\(target).swift"
        guard let text = files["README.md"] ?? files[name] else {
            return "\(target): neither README.md nor \(name) explains it"
        }
        if files["README.md"] != nil { return nil }
        let first = text.split(separator: "\n").map { $0.drop { $0 == " " } }.first { line in
            !["import ", "public import ", "internal import ", "#ifndef ", "#define ", "#include ", "#if "].contains {
                line.hasPrefix($0)
            }
        }
        guard let first, ["/*", "///", "//"].contains(where: { first.hasPrefix($0) }) else {
            return "\(target): \(name) does not begin with a comment that explains it"
        }
        return nil
    }
}
