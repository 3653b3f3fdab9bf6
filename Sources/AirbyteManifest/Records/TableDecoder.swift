internal import Model

/// Translates decoders of replies that are not JSON.
struct TableDecoder {
    let draft: EntityDraft

    /// The records' path below the reply, as far as it is known.
    var path: [String] = []

    func apply(_ decoder: ConfigValue?) {
        switch decoder?.type {
        case nil, "JsonDecoder": return
        case "JsonlDecoder": draft.set("format", "ndjson")
        case "IterableDecoder":
            draft.obstacle("each line of its replies is a text, and not an object; the REST bridge reads lines of JSON")
        case "GzipDecoder": apply(decoder?["decoder"])
        case "ZipfileDecoder" where ["CsvDecoder", "JsonlDecoder"].contains(decoder?["decoder"]?.type):
            // bmo sees by itself whether a body is packed.
            apply(decoder?["decoder"])
        case "CsvDecoder": csv(decoder)
        case "XmlDecoder": xml()
        case let name?:
            draft.obstacle(
                "its replies are read by \(decoder?["class_name"]?.string ?? name), which has no counterpart")
        }
    }

    private func csv(_ decoder: ConfigValue?) {
        guard path.isEmpty else {
            draft.obstacle("its records are inside the rows of CSV; the REST bridge takes each row for a record")
            return
        }
        draft.settings.removeAll { $0.name == "records" }
        Self.addCSV(decoder, to: draft)
        checkPaging("CSV")
    }

    /// Adds the members of the section that say how CSV is read.
    static func addCSV(_ decoder: ConfigValue?, to draft: EntityDraft) {
        draft.set("format", "csv")
        let delimiter = decoder?["delimiter"]?.printed ?? ","
        if ["\t", "\\t"].contains(delimiter) {
            draft.set("delimiter", "tab")
        } else if delimiter != "," {
            draft.set("delimiter", .string(delimiter))
        }
        if let encoding = decoder?["encoding"]?.printed, encoding.lowercased() != "utf-8" {
            draft.set("encoding", .string(encoding))
        }
        let nulls = (decoder?["set_values_to_none"]?.array ?? []).map(\.printed)
        if nulls.contains("") { draft.set("empty_as_null", true) }
        let words = nulls.filter { !$0.isEmpty }
        if !words.isEmpty { draft.set("null_values", .array(words.map { .string($0) })) }
    }

    private func xml() {
        guard path.count > 1, !path.contains(where: { $0 == "*" || $0.contains { ":@#/".contains($0) } }) else {
            draft.obstacle(
                "its records are not repeated elements of XML with a plain name: \(path.joined(separator: "/"))")
            return
        }
        draft.set("format", "xml")
        draft.set("records", .string(path.joined(separator: "/")))
        for index in draft.attributes.indices where draft.attributes[index].type != "json" {
            switch draft.attributes[index].transform {
            case nil, .string("empty_as_null"): draft.attributes[index].transform = ["trim", "empty_as_null"]
            default: break
            }
        }
        draft.doubt(
            "XML: in columns of the type json and in extra, texts keep white space around them, and empty elements are empty texts; names have no namespaces",
            ofValues: true)
        checkPaging("XML")
    }

    /// Refuses paging that reads members of a JSON reply.
    private func checkPaging(_ format: String) {
        guard let paging = draft.setting("paging") else { return }
        let isKeyset = paging["style"] == "keyset"
        let isInBody = (paging.members ?? []).contains { name, value in
            !["field", "template"].contains(name) && value.string?.hasPrefix("$") == true
        }
        if isKeyset || isInBody { draft.obstacle("its paging reads the reply, which is \(format), and not JSON") }
    }
}
