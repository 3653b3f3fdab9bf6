internal import Model

/// Translates a record selector and a decoder, after the paging.
struct Selector {
    let draft: EntityDraft
    /// The members that transformations write before the filter reads them.
    var rewritten: Set<String> = []

    func apply(_ retriever: ConfigValue, _ scope: Scope) {
        guard let selector = retriever["record_selector"] else {
            TableDecoder(draft: draft).apply(retriever["decoder"])
            return
        }
        let scope = scope.with(selector)
        do {
            try extractor(selector["extractor"], scope)
        } catch {
            draft.obstacle("its records: \(reason(error))")
        }
        let path = path(retriever, scope).filter { !$0.isEmpty }
        TableDecoder(draft: draft, path: path).apply(retriever["decoder"])
        if let filter = selector["record_filter"], filter != .null { self.filter(filter, scope.with(filter)) }
    }

    /// Returns the members on the way to the records, as far as they are known.
    func path(_ retriever: ConfigValue, _ scope: Scope) -> [String] {
        guard let selector = retriever["record_selector"], let extractor = selector["extractor"] else { return [] }
        let scope = scope.with(selector).with(extractor)
        return (extractor["field_path"]?.array ?? []).compactMap {
            (try? Template($0.printed, scope))?.known?.printed
        }
    }

    private func extractor(_ extractor: ConfigValue?, _ scope: Scope) throws {
        guard let extractor, extractor != .null else { return }
        guard extractor.type == "DpathExtractor" else {
            let name = extractor["class_name"]?.string ?? extractor.type ?? ""
            throw Untranslatable(
                extractor["class_name"] == nil ? "\(name) has no counterpart" : "\(name) is custom Python")
        }
        let scope = scope.with(extractor)
        var path: [String] = []
        for part in extractor["field_path"]?.array ?? [] {
            guard let known = try Template(part.printed, scope).known else {
                throw Untranslatable("the path \(part.printed) is known only during a sync")
            }
            if known.printed != "*", known.printed.contains("*") {
                throw Untranslatable("the path \(part.printed) selects by a pattern; bmo has only *")
            }
            if known != .null, known != "" { path.append(known.printed) }
        }
        let expander = extractor["record_expander"]
        if let expander, expander != .null {
            let field = (expander["expand_records_from_field"]?.array ?? []).map(\.printed)
            if path.last != "*" { path.append("*") }
            path += field
            if expander["remain_original_record"]?.isTruthy == true || expander["merge_parent"]?.isTruthy == true {
                draft.doubt("record_expander: the record around an expanded one is not copied into it")
            }
            for parent in expander["parent_fields"]?.array ?? [] {
                draft.doubt(
                    "record_expander: the field \(parent["record_path"]?.printed ?? "") of the record around it is not copied"
                )
            }
        }
        draft.set("records", .string(RecordsPath.text(path)))
    }

    private func filter(_ filter: ConfigValue, _ scope: Scope) {
        guard let condition = filter["condition"]?.string, !condition.isEmpty else {
            if filter["class_name"] != nil {
                draft.obstacle("its record filter \(filter["class_name"]?.printed ?? "") is custom Python")
            }
            return
        }
        var scope = scope
        scope.keepsDefaults = true
        let expression = (try? Template(condition, scope).expression).map(Self.turned)
        if let known = expression?.known, known.isTruthy { return }
        if case .binary("==", .path(let names), .literal(.string(let text)))? = expression, names.count == 2,
            names[0] == "record", !text.contains(where: { "'{\\".contains($0) }), Self.isPlain(names[1]),
            let records = draft.setting("records")?.string, records.hasPrefix("$")
        {
            guard !rewritten.contains(names[1]) else {
                draft.doubt(
                    "record_filter \(condition) is not applied, because a transformation writes what it tests: "
                        + "bmo imports more records than Airbyte")
                return
            }
            guard Self.mayDropRecords(draft) else {
                draft.sectionNote(
                    "not carried: record_filter \(condition): bmo would count only the remaining records, and end too early"
                )
                draft.doubt(
                    "record_filter \(condition) is not applied, because the paging counts records: bmo imports more records than Airbyte"
                )
                return
            }
            draft.set(
                "records", .string("\(records)[?@.\(names[1])=='\(text)']"), comment: "the record filter \(condition)")
            return
        }
        draft.sectionNote("not carried: record_filter \(condition): bmo also imports the records that it excludes")
        draft.doubt("record_filter \(condition) is not applied: bmo imports more records than Airbyte")
    }

    /// Returns a test with the record's member in front: `'a' == record.kind` is `record.kind == 'a'`.
    private static func turned(_ test: Expression) -> Expression {
        if case .binary("==", .literal(let value), .path(let names)) = test {
            return .binary("==", .path(names), .literal(value))
        }
        return test
    }

    /// Whether a filter of the bridge's can have the name.
    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "_" || $0 == "-")
            }
    }

    /// Whether the end of the listing is independent of the number of records on a page.
    private static func mayDropRecords(_ draft: EntityDraft) -> Bool {
        guard let paging = draft.setting("paging") else { return true }
        return paging == "none"
            || ["next_url", "link_header"].contains(paging["style"]?.string) && paging["end_below"] == nil
    }
}
