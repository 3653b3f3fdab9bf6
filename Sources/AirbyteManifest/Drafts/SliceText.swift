internal import Model

/// Writes the texts of requests with the variables of the REST bridge.
struct SliceText {
    let draft: EntityDraft
    let bridge: BridgeDraft
    /// The fields of the slice that hold the window of a cursor.
    var start = "start_time"
    var end = "end_time"
    /// The format in which the cursor's values are sent.
    var format: String?
    /// The job that the request before has created, in the later requests of an export.
    var job: JobReply?

    /// Where a text is sent.
    enum Place {
        case query, header, body, path
    }

    /// Returns a value of a request, or nil if it is left out.
    ///
    /// - Throws: ``Untranslatable`` for an expression without a counterpart.
    func value(_ value: ConfigValue, _ scope: Scope, in place: Place) throws -> ConfigValue? {
        switch value {
        case .string(let text):
            let template = try Template(text, scope)
            if place == .body, case .list(let elements)? = template.expression, template.known == nil {
                return .array(try elements.map { .string(try variable($0)) })
            }
            if let known = template.known { return sent(known, in: place) }
            let written = try self.text(template, in: place)
            return .string(written)
        case .object(let members) where place == .body:
            return .object(
                try members.compactMap { key, value in
                    guard let sent = try self.value(value, scope, in: place), sent != .null else { return nil }
                    return (try name(key, scope), Self.literal(sent))
                })
        case .array(let elements):
            return .array(try elements.compactMap { try self.value($0, scope, in: place) })
        default: return sent(value, in: place)
        }
    }

    /// Airbyte reads a member's text as a Python literal where it is one, so that "5" is sent as 5.
    private static func literal(_ value: ConfigValue) -> ConfigValue {
        guard let text = value.string else { return value }
        if let number = Int64(text), String(number) == text { return .int(number) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].contains(where: \.isNumber), let whole = Int64(parts[0]), "\(whole)" == parts[0],
            !parts[1].isEmpty, parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Double(text)
        {
            return .double(number)
        }
        return text == "True" ? true : text == "False" ? false : value
    }

    func name(_ text: String, _ scope: Scope) throws -> String {
        guard let name = try Template(text, scope).known?.printed else {
            throw Untranslatable("only Python can compute the name \(text)")
        }
        return name
    }

    /// Python prints True, where a query needs true.
    private func sent(_ value: ConfigValue, in place: Place) -> ConfigValue? {
        switch value {
        case .null: place == .body ? .null : nil
        case .bool where place != .body: .string(value.printed)
        case .int, .double: place == .header ? .string(value.printed) : value
        case .array(let elements) where place != .body: .array(elements.compactMap { sent($0, in: place) })
        default: value
        }
    }

    /// Returns a template's text with variables.
    func text(_ template: Template, in place: Place) throws -> String {
        try template.parts.map { part in
            switch part {
            case .text(let text): place == .path ? Self.escaped(text) : text
            case .expression(let expression):
                place == .path ? unescaped(try variable(expression)) : try variable(expression)
            }
        }.joined()
    }

    /// Lets the variables of a path keep their slashes, as Airbyte does, where a given value has one, or the name says that
    /// it has some: `{+repo}` for owner/name.
    ///
    /// All others are sent as one segment, whatever they have in them: a remote's value must not lead to another path.
    private func unescaped(_ text: String) -> String {
        text.replacing(/\{(parent\.)?([A-Za-z_]\w*)\}/) { match in
            let name = String(match.output.2)
            return keepsSlash(name, isOfParent: match.output.1 != nil)
                ? "{+\(match.output.0.dropFirst())" : match.output.0
        }
    }

    private func keepsSlash(_ name: String, isOfParent: Bool) -> Bool {
        if !isOfParent, let values = draft.setting("each")?[name]?.array {
            return values.contains { $0.printed.contains("/") }
        }
        let words = name.lowercased()
        return ["repo", "repository", "path", "full_name", "fullname", "resource_name", "path_with_namespace"].contains
        {
            words == $0 || words.hasSuffix("_" + $0)
        }
    }

    private static func escaped(_ path: String) -> String {
        path.reduce(into: "") { out, character in
            if "{}()|\\".contains(character) { out.append("\\") }
            out.append(character)
        }
    }

    /// Returns the text that stands for an expression.
    func variable(_ expression: Expression) throws -> String {
        if let value = expression.known { return value == .null ? "" : value.printed }
        switch expression {
        case .input(let input): return "{\(bridge.parameter(for: input))}"
        case .path(let names) where JobReply.members(names) != nil:
            guard let job else { throw Untranslatable("the reply to another request has the value") }
            return try job.variable(JobReply.members(names) ?? [])
        case .path(let names) where names.first == "slice": return try field(Array(names.dropFirst()))
        case .call(.name("format_datetime"), let arguments):
            guard let time = arguments.first, let format = arguments.dropFirst().first?.known?.string,
                arguments.dropFirst(2).isEmpty || arguments[2].known?.string == self.format
            else { break }
            return try timed(time, format: format)
        case .call(.name("timestamp"), let arguments):
            if let time = arguments.first { return try timed(time, format: "%s") }
        case .binary("*", .call(.name("timestamp"), let arguments), .literal(1000)):
            if let time = arguments.first { return try timed(time, format: "%ms") }
        case .call(.member(let time, .literal("strftime")), let arguments):
            guard let format = arguments.first?.known?.string else { break }
            if case .call(.name("now_utc"), _) = time { return try now(format) }
            return try timed(time, format: format)
        case .call(.name("now_utc"), _): return try now("%Y-%m-%d %H:%M:%S+00:00")
        case .call(.name("today_utc"), _): return try now("%Y-%m-%d")
        case .binary("or", let value, let other):
            // A slice has its fields, so that what would replace one is never sent.
            guard other.known?.isTruthy == false || isField(value) else { break }
            return try variable(value)
        case .conditional(.path(["slice"]), let yes, _): return try variable(yes)
        case .conditional(let test, let yes, let no):
            // `('x' + slice.id) if slice.id else ''`: a slice has its fields.
            guard case .path(let names) = test, names.first == "slice", no.known?.isTruthy == false,
                (try? field(Array(names.dropFirst()))) != nil
            else { break }
            return try variable(yes)
        case .binary("+", let left, let right) where Self.isText(expression):
            return try variable(left) + variable(right)
        case .binary("~", let left, let right): return try variable(left) + variable(right)
        default: break
        }
        throw Untranslatable("only Python can compute {{ \(expression.text) }}")
    }

    /// Whether an expression is a field that every slice has.
    private func isField(_ expression: Expression) -> Bool {
        guard case .path(let names) = expression, names.first == "slice", let name = names.last else { return false }
        guard names.count > 1 else { return false }
        return draft.slice[name] != nil || [start, end].contains(name) && draft.setting("since") != nil
    }

    private func timed(_ time: Expression, format: String) throws -> String {
        guard case .path(let names) = time, names.first == "slice", let field = names.last,
            [start, end].contains(field)
        else { throw Untranslatable("only Python can compute {{ \(time.text) }} as \(format)") }
        guard draft.setting("since") != nil else { return try self.field([field]) }
        try want(format)
        return field == start ? "{since}" : "{until}"
    }

    private func now(_ format: String) throws -> String {
        try want(format)
        draft.sendsNow = true
        return "{until}"
    }

    /// Sets the format in which the section sends times.
    ///
    /// - Throws: ``Untranslatable`` if it sends one in another format: a section has one.
    func want(_ format: String?) throws {
        guard let format else { return }
        if let known = draft.timeFormat, known != format {
            throw Untranslatable("one section cannot send times in the format \(known) and in \(format)")
        }
        draft.timeFormat = format
        draft.add("format", .string(format), to: "since")
    }

    /// Whether `+` joins texts rather than adds numbers.
    static func isText(_ expression: Expression) -> Bool {
        switch expression {
        case .literal(.string), .binary("~", _, _), .filter(_, "string", _): true
        case .binary("+", let left, let right): isText(left) || isText(right)
        default: false
        }
    }

    /// Returns the variable of a field of the slice.
    private func field(_ names: [String]) throws -> String {
        var names = names.filter { !["_partition", "partition", "cursor_slice", "_cursor_slice"].contains($0) }
        guard let first = names.first else { throw Untranslatable("only Python can send the whole slice") }
        if [start, end].contains(first), draft.setting("since") != nil {
            try want(format)
            return first == start ? "{since}" : "{until}"
        }
        if first == "parent_slice" {
            names.removeFirst()
            var levels = 1
            while names.first == "parent_slice" {
                names.removeFirst()
                levels += 1
            }
            guard let field = names.first, let column = keeping(field, levels: levels, draft) else {
                throw Untranslatable("the parent's slice has no field \(names.joined(separator: "."))")
            }
            return "{parent.\(column)}"
        }
        if first == "extra_fields", let parent = draft.parent?.draft {
            let path = names.dropFirst().flatMap { $0.split(separator: ".").map(String.init) }
            return "{parent.\(parent.attribute(reading: path))}"
        }
        if let text = draft.slice[first], names.count == 1 { return text }
        // A member of the parent's object or list that is the key.
        if let path = draft.sliceObjects[first], let parent = draft.parent?.draft {
            let column = parent.attribute(reading: path + names.dropFirst())
            draft.sliceMembers[first] = draft.sliceMembers[first] ?? column
            return "{parent.\(column)}"
        }
        throw Untranslatable("the slice has no field \(names.joined(separator: "."))")
    }

    /// Adds an attribute to the parent that keeps a field of its slice, or of its parents' slices.
    private func keeping(_ field: String, levels: Int, _ draft: EntityDraft) -> String? {
        guard let parent = draft.parent?.draft else { return nil }
        if levels == 1 { return parent.attribute(keepingSliceField: field) }
        guard let column = keeping(field, levels: levels - 1, parent) else { return nil }
        parent.slice["parent_" + field] = "{parent.\(column)}"
        return parent.attribute(keepingSliceField: "parent_" + field)
    }
}
