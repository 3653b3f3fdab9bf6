internal import BridgeKit
internal import RecordBatch

/// A fault, of SOAP 1.1 (section 4.4) or 1.2 (part 1, section 5.4).
struct SOAPFault: Sendable, Equatable {
    /// The local names of code and subcodes: `Server`, `Sender`, ...
    var codes: [String] = []
    var reason = ""
    /// faultactor, or node and role.
    var actor: String?
    /// The detail's leaves: `name: text; name: text`.
    var detail = ""

    /// Reads a fault from the object of its element.
    init(_ batch: RecordBatch) {
        defer { withExtendedLifetime(batch) {} }
        guard batch.count > 0 else { return }
        let fault = batch[0]
        if let code = Self.text(fault["faultcode"]) {
            codes = Self.localName(code).split(separator: ".").map(String.init)
            reason = Self.text(fault["faultstring"]) ?? ""
            actor = Self.text(fault["faultactor"])
            detail = Self.leaves(fault["detail"])
        } else {
            var code = fault["Code"]
            while let value = Self.text(code?["Value"]), codes.count < 10 {
                codes.append(Self.localName(value))
                code = code?["Subcode"]
            }
            reason = Self.text(fault["Reason"]?["Text"]) ?? ""
            actor = Self.text(fault["Node"]) ?? Self.text(fault["Role"])
            detail = Self.leaves(fault["Detail"])
        }
    }

    /// The fault in one line: `Server.Database: no such table; detail: table: users`.
    var words: String {
        var words = codes.joined(separator: ".")
        if !reason.isEmpty { words += (words.isEmpty ? "" : ": ") + reason }
        if !detail.isEmpty { words += "; detail: " + detail }
        if let actor, !actor.isEmpty { words += "; from: " + actor }
        return words.isEmpty ? "a fault without code and reason" : words
    }

    /// Whether the fault blames the server, not the request.
    var isServer: Bool { codes.first == "Server" || codes.first == "Receiver" }

    /// The error that this fault is, as the reply to a request.
    func error(status: Int, operation: String, location: String) -> BridgeError {
        BridgeError(
            .remote,
            "the service answered \"\(operation)\" with a SOAP fault" + (status == 200 ? "" : " (HTTP \(status))"),
            remedy: codes.first == "VersionMismatch" ? "set the option \"soap_version\" to the other version" : nil,
            location: location, remote: String(words.prefix(1000)), isRetryable: isServer && status == 503)
    }

    private static func localName(_ name: String) -> String {
        String(name.split(separator: ":").last ?? "")
    }

    /// The text of a leaf: with attributes it is an object, in several languages a list.
    private static func text(_ value: BatchValue?) -> String? {
        guard let value else { return nil }
        switch value.tag {
        case .text: return trimmed(value.string)
        case .object: return text(value["#text"])
        case .array:
            let english = value.elements.first { $0["@lang"]?.text?.hasPrefix("en") == true }
            return text(english ?? value.elements.first)
        default: return nil
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
        let end = text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? start
        return String(text[start..<end])
    }

    private static func leaves(_ value: BatchValue?) -> String {
        var found: [String] = []
        var size = 0
        func visit(_ value: BatchValue, name: String) {
            guard size < 4000 else { return }
            switch value.tag {
            case .object:
                for (key, member) in value.members where !key.hasPrefix("@") {
                    visit(member, name: key == "#text" ? name : key)
                }
            case .array: for element in value.elements { visit(element, name: name) }
            case .text:
                let text = trimmed(String(value.string.prefix(1000)))
                guard !text.isEmpty else { return }
                let leaf = name.isEmpty ? text : "\(name): \(text)"
                size += leaf.utf8.count
                found.append(leaf)
            default: break
            }
        }
        if let value { visit(value, name: "") }
        return found.joined(separator: "; ")
    }
}
