internal import BridgeKit
internal import RecordBatch

/// A SOAP fault of version 1.1 (section 4.4) or 1.2 (part 1, section 5.4).
struct SOAPFault: Sendable, Equatable {
    /// The local names of the code and its subcodes: `Server`, `Sender`, ...
    var codes: [String] = []
    var reason = ""
    /// `faultactor` of SOAP 1.1; `Node` or `Role` of SOAP 1.2.
    var actor: String?
    /// The leaves of the detail, each with its path of names below the detail.
    var leaves: [Leaf] = []

    struct Leaf: Sendable, Equatable {
        var path: [String]
        var text: String
    }

    /// Reads a fault from the object decoded from its element.
    init(_ batch: RecordBatch) {
        defer { withExtendedLifetime(batch) {} }
        guard batch.count > 0 else { return }
        let fault = batch[0]
        if let code = Self.text(fault["faultcode"]) {
            codes = Self.localName(code).split(separator: ".").map(String.init)
            reason = Self.text(fault["faultstring"]) ?? ""
            actor = Self.text(fault["faultactor"])
            leaves = Self.leaves(fault["detail"])
        } else {
            var code = fault["Code"]
            while let value = Self.text(code?["Value"]), codes.count < 10 {
                codes.append(Self.localName(value))
                code = code?["Subcode"]
            }
            reason = Self.text(fault["Reason"]?["Text"]) ?? Self.text(fault["faultstring"]) ?? ""
            actor = Self.text(fault["Node"]) ?? Self.text(fault["Role"])
            leaves = Self.leaves(fault["Detail"] ?? fault["detail"])
        }
    }

    /// The code and its subcodes joined by dots: `Server.Database`.
    var code: String { codes.joined(separator: ".") }

    /// The detail's leaves: `name: text; name: text`.
    var detail: String {
        leaves.filter { !$0.text.isEmpty }
            .map { leaf in leaf.path.last.map { "\($0): \(leaf.text)" } ?? leaf.text }.joined(separator: "; ")
    }

    /// The fault in one line: `Server.Database: no such table; detail: table: users`.
    var words: String {
        var words = code
        if !reason.isEmpty { words += (words.isEmpty ? "" : ": ") + reason }
        if !detail.isEmpty { words += "; detail: " + detail }
        if let actor, !actor.isEmpty { words += "; from: " + actor }
        return words.isEmpty ? "a fault without code and reason" : words
    }

    /// Whether the fault blames the server rather than the request.
    var isServer: Bool { codes.first == "Server" || codes.first == "Receiver" }

    /// Returns the error that reports this fault as the reply to a request.
    func error(status: Int, operation: String, location: String) -> BridgeError {
        var remedy: String?
        switch codes.first {
        case "VersionMismatch": remedy = "set the option \"soap_version\" to the other version"
        case "MustUnderstand":
            remedy = "the service does not know a header block: check soap_headers, security and addressing"
        default: break
        }
        var error = BridgeError(
            .remote,
            "the service answered \"\(operation)\" with a SOAP fault" + (status == 200 ? "" : " (HTTP \(status))"),
            remedy: remedy, location: location, remote: words,
            isRetryable: isServer && status == 503)
        // WS-Security, SOAP Message Security 1.0, section 12.
        if ["FailedAuthentication", "InvalidSecurity", "InvalidSecurityToken"].contains(where: codes.contains) {
            error.code = .authentication
            error.remedy = "check the option security"
        }
        return error
    }

    private static func localName(_ name: String) -> String {
        String(name.split(separator: ":").last ?? "")
    }

    /// Returns a leaf's text.
    ///
    /// A leaf with attributes is an object; a leaf in several languages is a list.
    private static func text(_ value: BatchValue?) -> String? {
        guard let value else { return nil }
        switch value.tag {
        case .text: return value.string.trimmingWhiteSpace
        case .object: return text(value["#text"])
        case .array:
            let english = value.elements.first { $0["@lang"]?.text?.hasPrefix("en") == true }
            return text(english ?? value.elements.first)
        default: return nil
        }
    }

    private static func leaves(_ value: BatchValue?) -> [Leaf] {
        var found: [Leaf] = []
        var size = 0
        func visit(_ value: BatchValue, path: [String]) {
            guard size < 4000 else { return }
            switch value.tag {
            case .object:
                if value.count == 0 { found.append(Leaf(path: path, text: "")) }
                for (key, member) in value.members where !key.hasPrefix("@") {
                    visit(member, path: key == "#text" ? path : path + [key])
                }
            case .array: for element in value.elements { visit(element, path: path) }
            case .null: break
            default:
                let text = value.tag == .text ? String(value.string.prefix(32_000)).trimmingWhiteSpace : value.json
                guard !text.isEmpty || !path.isEmpty else { return }
                size += text.utf8.count
                found.append(Leaf(path: path, text: text))
            }
        }
        if let value { visit(value, path: []) }
        return found
    }
}
