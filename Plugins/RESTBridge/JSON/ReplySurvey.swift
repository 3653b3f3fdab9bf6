internal import BridgeHTTP
internal import BridgeJSON

extension String {
    /// Whether this path leads into the value at another one.
    func isPath(inside outer: String) -> Bool { hasPrefix(outer + ".") || hasPrefix(outer + "[") }
}

/// The values beside the records of a reply, by path.
struct ReplySurvey: Sendable {
    /// Whether the reply's root is an array.
    let isArray: Bool
    /// The findings in the reply's order.
    let findings: [(path: String, value: JSONScalar)]
    private let index: [String: Int]
    /// What precedes a dot or a bracket in a path: among these, all objects with members.
    private let beginnings: Set<Substring>

    /// The number of findings up to which objects of any depth are covered.
    ///
    /// Beyond it, nested objects are covered less and less.
    static let whole = 600

    init(isArray: Bool, findings: [(path: String, value: JSONScalar)]) {
        self.isArray = isArray
        self.findings = findings
        index = Dictionary(findings.indices.map { (findings[$0].path, $0) }, uniquingKeysWith: { $1 })
        var beginnings: Set<Substring> = []
        for (path, _) in findings {
            for (end, byte) in zip(path.utf8.indices, path.utf8)
            where byte == UInt8(ascii: ".") || byte == UInt8(ascii: "[") {
                beginnings.insert(path[..<end])
            }
        }
        self.beginnings = beginnings
    }

    /// Surveys a body.
    ///
    /// - Parameter records: The path of the records, whose surroundings are covered at any depth.
    /// - Returns: nil if the body is not JSON.
    init?(_ body: HTTPExchange.PaddedBody, along records: JSONPath? = nil) {
        guard let reader = try? JSONRecordReader() else { return nil }
        if let records { guard (try? reader.addPath(records)) != nil else { return nil } }
        guard reader.begin(body.bytes, count: body.count, as: .values) else { return nil }
        let skipped = body.bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let first = body.bytes.dropFirst(skipped).first { $0 > 0x20 }
        self.init(
            isArray: first == UInt8(ascii: "["), findings: reader.survey().map { ($0.path, JSONScalar($0.value)) })
    }

    /// Returns the path of a member, unquoted if RFC 9535 allows that (section 2.5.1.1, member-name-shorthand).
    static func member(_ home: String, _ name: String) -> String {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        func beginsName(_ byte: UInt8) -> Bool { byte >= 0x80 || byte == 0x5F || (0x61...0x7A).contains(byte | 0x20) }
        let isPlain =
            name.utf8.first.map(beginsName) == true && name.utf8.allSatisfy { beginsName($0) || isDigit($0) }
        return isPlain
            ? "\(home).\(name)"
            : "\(home)['" + name.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "']"
    }

    subscript(path: String) -> JSONScalar { index[path].map { findings[$0].value } ?? .missing }

    /// Whether the reply may have members of the object at a path: a cheap test before many are looked for.
    func mayHaveMembers(of path: String) -> Bool { beginnings.contains(path[...]) }

    /// The paths of lists of lists: tables whose rows do not name their values.
    var tables: [String] { findings.filter { $0.value == .array("[") }.map(\.path) }

    /// The paths of lists of objects, and of empty lists.
    var lists: [String] {
        findings.compactMap { finding in
            switch finding.value {
            case .array("{"), .array(""): finding.path
            default: nil
            }
        }
    }
}
