/// The targets of a Package.swift with the names of their dependencies, read from its text.
struct Manifest {
    private(set) var dependencies: [String: [String]] = [:]

    init(_ text: String) {
        for kind in [".target(", ".executableTarget(", ".testTarget(", ".systemLibrary(", ".plugin("] {
            for call in Self.calls(kind, in: text) {
                guard let name = Self.strings(call).first, call.contains("name:") else { continue }
                dependencies[name] = Self.list("dependencies:", in: call)
            }
        }
        // The plugins are declared by a function of the manifest, which adds the kit.
        for call in Self.calls("bridge(", in: text) where !call.contains("_ name") {
            guard let name = Self.strings(call).first else { continue }
            dependencies[name] = Self.list("transport:", in: call) + ["BridgeKit", "CBridge", "RecordBatch"]
        }
        for call in Self.calls("plugin(", in: text) where !call.contains("_ name") && !call.contains("name:") {
            let names = Self.strings(call)
            if names.count == 2 { dependencies[names[0]] = [names[1], "BridgeKit", "CBridge"] }
        }
        dependencies["\\(name)"] = nil
    }

    /// The arguments of all calls of a function.
    private static func calls(_ function: String, in text: String) -> [Substring] {
        var calls: [Substring] = []
        var rest = text[...]
        while let start = rest.firstRange(of: function) {
            let open = rest.index(before: start.upperBound)
            let end = matching(open, in: rest)
            calls.append(rest[start.upperBound..<end])
            rest = rest[start.upperBound...]
        }
        return calls
    }

    /// The names in the list after a label, without the packages that products come from.
    private static func list(_ label: String, in call: Substring) -> [String] {
        guard let start = call.firstRange(of: label), let open = call[start.upperBound...].firstIndex(of: "[") else {
            return []
        }
        var names = call[call.index(after: open)..<matching(open, in: call)]
        while let package = names.firstRange(of: "package: \""),
            let end = names[package.upperBound...].firstIndex(of: "\"")
        {
            names = Substring(names[..<package.lowerBound] + names[names.index(after: end)...])
        }
        return strings(names)
    }

    private static func strings(_ text: Substring) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    /// The index of the bracket that closes the one at `open`.
    private static func matching(_ open: Substring.Index, in text: Substring) -> Substring.Index {
        var depth = 0
        var isInString = false
        for index in text.indices[open...] {
            switch text[index] {
            case "\"": isInString.toggle()
            case "(" where !isInString, "[" where !isInString: depth += 1
            case ")" where !isInString, "]" where !isInString:
                depth -= 1
                if depth == 0 { return index }
            default: break
            }
        }
        return text.endIndex
    }
}
