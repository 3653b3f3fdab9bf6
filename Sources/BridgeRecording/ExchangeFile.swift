internal import BridgeContract
internal import RecordBatch

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The file of one exchange, for people to read, edit and compare.
///
/// ```
/// # registry: Country, request 2
/// GET http://127.0.0.1:8080/countries?page=2
/// Accept: application/json
///
/// === 200
/// Content-Type: application/json
///
/// {
///   "items": []
/// }
/// ```
///
/// A body that is not text has a file of its own next to this one, with the same name and the extension `.request` or
/// `.reply`; `@file` marks its place. A line of a body that begins with `===`, `@file` or `\` is prefixed with `\`.
struct ExchangeFile: Sendable, Equatable {
    var bridge = ""
    var entity: String?
    /// The request's number in its scan, from 1.
    var number: Int?
    /// Whole seconds since the bridge was opened.
    var after = 0
    var method = ""
    var target = ""
    var headers: [Exchange.Field] = []
    var body = Body.none
    /// A status, or `failed CODE`, optionally followed by ` retryable`.
    var status = ""
    var replyHeaders: [Exchange.Field] = []
    var replyBody = Body.none

    enum Body: Sendable, Hashable {
        case none
        case text(String)
        case bytes([UInt8])

        var bytes: [UInt8] {
            switch self {
            case .none: []
            case .text(let text): Array(text.utf8)
            case .bytes(let bytes): bytes
            }
        }
    }

    private static let mark = "==="
    static let besides = "@file"

    // MARK: Writing

    /// The file's text; bodies that are not text are written to files of their own.
    var text: String {
        var out = "# \(bridge)"
        if let entity { out += ": \(entity)" }
        if let number { out += ", request \(number)" }
        out += "\n"
        if after > 0 { out += "# after \(after) s\n" }
        out += "\(method) \(target)\n"
        for field in headers { out += "\(field.name): \(field.value)\n" }
        Self.write(body, to: &out)
        out += "\n\(Self.mark) \(status)\n"
        for field in replyHeaders { out += "\(field.name): \(field.value)\n" }
        Self.write(replyBody, to: &out)
        return out
    }

    private static func write(_ body: Body, to out: inout String) {
        switch body {
        case .none: break
        case .bytes: out += "\n\(besides)\n"
        case .text(let text):
            out += "\n"
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix(mark) || line.hasPrefix(besides) || line.hasPrefix("\\") { out += "\\" }
                out += line + "\n"
            }
        }
    }

    // MARK: Reading

    /// Parses a text; `sidecar` returns the bytes of the file with the given extension.
    init?(_ text: String, sidecar: (String) -> [UInt8]?) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        // The last line ends with a line feed.
        if lines.last?.isEmpty == true { lines.removeLast() }
        while let line = lines.first, line.hasPrefix("#") {
            readNote(line.dropFirst().drop { $0 == " " })
            lines.removeFirst()
        }
        guard let first = lines.popFirst() else { return nil }
        let words = first.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        method = String(words[0])
        target = String(words[1])
        guard let middle = lines.firstIndex(where: { $0.hasPrefix(Self.mark) }) else { return nil }
        var asked = lines[..<middle]
        // The blank line before the `===` line.
        if asked.last?.isEmpty == true { asked.removeLast() }
        (headers, body) = Self.part(asked, "request", sidecar)
        status = String(lines[middle].dropFirst(Self.mark.count).drop { $0 == " " })
        (replyHeaders, replyBody) = Self.part(lines[lines.index(after: middle)...], "reply", sidecar)
        guard !status.isEmpty else { return nil }
    }

    init() {}

    /// Returns the fault of a possibly edited text and its line; nil for a valid exchange.
    static func fault(in text: String) -> (line: Int, words: String)? {
        if let place = text.utf8.firstIndex(of: 0x0D) {
            let line = text.utf8[..<place].count { $0 == 0x0A } + 1
            return (line, "a carriage return: an exchange's lines end with a line feed alone (of git: `*.http -text`)")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let first = lines.firstIndex { !$0.hasPrefix("#") } ?? lines.count
        let words = first < lines.count ? lines[first].split(separator: " ", maxSplits: 1) : []
        guard words.count == 2, words[0].allSatisfy({ $0.isUppercase || $0 == "_" || $0 == "-" }) else {
            return (first + 1, "no METHOD and URL, such as `GET http://host/path`")
        }
        guard let middle = lines[first...].firstIndex(where: { $0.hasPrefix(mark) }) else {
            return (first + 1, "no line `=== 200` with the reply's status follows")
        }
        guard lines[middle].dropFirst(mark.count).contains(where: { $0 != " " }) else {
            return (middle + 1, "no status, such as `=== 200`")
        }
        if words[1].hasPrefix("http://") || words[1].hasPrefix("https://"),
            !isHTTP(status: lines[middle].dropFirst(mark.count).drop { $0 == " " })
        {
            return (middle + 1, "no HTTP status, such as `=== 200`, nor an error, such as `=== failed timeout`")
        }
        for start in [first, middle] {
            for index in lines.indices[(start + 1)...] {
                if lines[index].isEmpty || lines[index].hasPrefix(mark) { break }
                guard lines[index].dropFirst().contains(":") else {
                    return (index + 1, "no header field of the form `Name: value`")
                }
            }
        }
        return nil
    }

    private static func isHTTP(status: Substring) -> Bool {
        let words = status.split(separator: " ")
        if words.first == "failed" {
            guard let code = words.dropFirst().first.flatMap({ BridgeError.Code(rawValue: String($0)) }) else {
                return false
            }
            return code != .crashed && (words.count == 2 || words.count == 3 && words[2] == "retryable")
        }
        return words.count == 1 && words[0].count == 3 && Int(words[0]).map { $0 >= 100 } == true
    }

    private mutating func readNote(_ note: Substring) {
        if note.hasPrefix("after ") {
            after = Int(note.dropFirst(6).prefix { $0.isNumber }) ?? 0
            return
        }
        let parts = note.split(separator: ":", maxSplits: 1)
        bridge = parts.first.map(String.init) ?? ""
        guard parts.count == 2 else { return }
        let words = parts[1].drop { $0 == " " }
        if let comma = words.lastIndex(of: ","), words[comma...].hasPrefix(", request ") {
            entity = String(words[..<comma])
            number = Int(words[comma...].dropFirst(10))
        } else {
            entity = String(words)
        }
    }

    private static func part(
        _ lines: ArraySlice<Substring>, _ ending: String, _ sidecar: (String) -> [UInt8]?
    ) -> ([Exchange.Field], Body) {
        let blank = lines.firstIndex { $0.isEmpty } ?? lines.endIndex
        let fields = lines[..<blank].compactMap { line -> Exchange.Field? in
            // A name may begin with a special character: `@url`.
            guard let colon = line.dropFirst().firstIndex(of: ":") else { return nil }
            return Exchange.Field(
                String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        guard blank < lines.endIndex else { return (fields, .none) }
        let body = lines[lines.index(after: blank)...]
        if body.first == Self.besides[...], body.count == 1 {
            return (fields, sidecar(ending).map(Body.bytes) ?? .none)
        }
        let text = body.map { $0.hasPrefix("\\") ? $0.dropFirst() : $0 }.joined(separator: "\n")
        return (fields, text.isEmpty ? .none : .text(text))
    }
}
