import BridgeKit
import RecordBatch

/// The file that a row is in, or goes to, and the values of an edit that only say so.
struct RowPlace {
    let path: SharePath
    /// What the pattern captures in the path; nil for a name that it lacks.
    private let captures: [(name: String, value: String?)]
    private let request: WriteRequest

    /// Members of a row that say where it was read.
    private static let origins: Set<String> = ["@path", "@row", "@member"]

    /// Takes the file that the host knows, or that a new row names, or that is the only one of the pattern.
    ///
    /// - Throws: ``BridgeError`` if the file cannot be told, or an update would move the row to another one.
    init(_ request: WriteRequest, _ section: RowSection) throws {
        self.request = request
        let patterns = section.listing.patterns
        let wanted = request.values.string("@path")
        let known = KnownObject(request).string("@path")
        if let text = request.operation == .create ? wanted ?? known : known {
            path = try SharePath(text)
        } else {
            guard patterns.isLiteral else {
                throw BridgeError(
                    .configuration, "bmo cannot tell which file of \(patterns.text) the row belongs to",
                    remedy: "name one file in the section, or give the row an attribute with the path @path")
            }
            path = try SharePath((patterns.patterns[0].literalPath ?? []).joined(separator: "/"))
        }
        if request.operation == .create { try path.checkSelected(by: patterns) }
        let found = patterns.captures(of: path.names) ?? [:]
        captures = patterns.captureNames.map { (name: $0, value: found[$0]) }
        try checkOrigin()
    }

    private func checkOrigin() throws {
        for name in request.values.names where name.hasPrefix("@") {
            if name == "@path" {
                guard request.operation == .update else { continue }
                let wanted = request.values.string(name)
                guard let wanted, wanted.isSame(as: path.text) else {
                    throw move("its file is \(path.text), and cannot become \(wanted ?? "null")")
                }
            } else if request.operation == .update || !Self.origins.contains(name) {
                throw BridgeError(
                    .unsupported, "bmo cannot set \(name) of a row",
                    remedy: "an attribute with write: false is never sent")
            }
        }
    }

    /// Returns the values to write into a row: without captures, which are part of the path.
    ///
    /// - Parameter isOwn: Whether the row, or its file, has a member of this name itself.
    /// - Throws: ``BridgeError`` for a capture that is that of another file.
    func values(unless isOwn: (String) throws -> Bool) throws -> BridgeOptions {
        let values = request.values
        var left: Set<String> = []
        for (name, value) in captures where values.names.contains(name) {
            let hasOwn = try isOwn(name)
            if hasOwn, request.operation == .update { continue }
            guard values.isSame(name, as: value) else {
                let words =
                    "\(name) of \(path.text) is \(value ?? "null"), and cannot become \(values.string(name) ?? "null")"
                guard request.operation == .update else {
                    throw BridgeError(
                        .unsupported, words,
                        remedy: "set @path to the file that the row belongs to, or leave \(name) out")
                }
                throw move(words)
            }
            if !hasOwn { left.insert(name) }
        }
        guard !left.isEmpty else { return values }
        let kept = left.reduce(values) { $0.without($1) }
        guard kept.names == values.names.filter({ !left.contains($0) }) else {
            throw BridgeError(.limit, "the row for \(path.text) is too large to be written")
        }
        return kept
    }

    private func move(_ words: String) -> BridgeError {
        BridgeError(
            .unsupported, "a row cannot be moved to another file: \(words)",
            remedy: "create it there, and delete it here")
    }
}
