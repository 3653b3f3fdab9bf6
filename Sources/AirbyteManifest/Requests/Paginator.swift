internal import Model

/// Translates a paginator into `paging`.
struct Paginator {
    let draft: EntityDraft
    let text: SliceText
    /// The members on the way to the records.
    let records: [String]
    /// Whether a record filter leaves out some of a page's records, which Airbyte counts afterwards.
    var isFiltered = false

    private typealias Members = [(key: String, value: ConfigValue)]

    func apply(_ paginator: ConfigValue?, _ scope: Scope) {
        guard let paginator, paginator.type != "NoPagination" else {
            draft.set("paging", "none")
            return
        }
        do {
            let scope = scope.with(paginator)
            guard let strategy = paginator["pagination_strategy"] else { throw Untranslatable("it has no strategy") }
            let token = try paginator["page_token_option"].map { try RequestPlace($0, scope.with($0)) }
            let size = try pageSize(strategy, scope)
            let sizePlace = try paginator["page_size_option"].map { try RequestPlace($0, scope.with($0)) }
            let inner = scope.with(strategy)
            switch strategy.type {
            case "PageIncrement": try pages(strategy, token, size, sizePlace, inner)
            case "OffsetIncrement": try offsets(strategy, token, size, sizePlace)
            case "CursorPagination": try cursor(strategy, token, size, sizePlace, inner)
            default:
                throw Untranslatable(
                    "\(strategy["class_name"]?.string ?? strategy.type ?? "its strategy") is custom Python")
            }
        } catch {
            draft.obstacle("its paging: \(reason(error))")
        }
    }

    private func pageSize(_ strategy: ConfigValue, _ scope: Scope) throws -> Int64? {
        guard let value = strategy["page_size"], value != .null else { return nil }
        guard let known = try Template(value.printed, scope.with(strategy)).known?.printed, let size = Int64(known),
            size > 0
        else { throw Untranslatable("the page size \(value.printed) is not a number") }
        return size
    }

    /// Puts the page size into `paging`, or into the request if it is sent in another place than the token.
    private func place(
        _ size: Int64?, _ place: RequestPlace?, beside token: RequestPlace?, as member: String,
        in members: inout Members
    ) {
        guard let size, let place else { return }
        if let token, let home = token.paging?.home, let own = place.paging, own.home == home {
            members.append((member, .string(own.name)))
            members.append(("size", .int(size)))
        } else {
            place.put(.int(size), in: draft)
        }
    }

    private func into(_ token: RequestPlace, _ members: inout Members) {
        guard let home = token.paging?.home else { return }
        if home == "body", draft.setting("body") == nil {
            draft.set("body", .object([]))
            if case .form = token { draft.set("body_format", "form") }
        }
        if home != "query" || draft.setting("body") != nil { members.append(("in", .string(home))) }
    }

    private func pages(
        _ strategy: ConfigValue, _ token: RequestPlace?, _ size: Int64?, _ sizePlace: RequestPlace?, _ scope: Scope
    ) throws {
        guard let token, let name = token.paging?.name else {
            throw Untranslatable("no parameter sends the page's number")
        }
        let start = try strategy["start_from_page"].flatMap {
            Int64(try Template($0.printed, scope).known?.printed ?? "")
        }
        var members: Members = [
            ("style", "page"), ("page_parameter", .string(name)), ("start", .int(start ?? 0)),
        ]
        place(size, sizePlace, beside: token, as: "size_parameter", in: &members)
        if let size, !members.contains(where: { $0.key == "size" }) { members.append(("size", .int(size))) }
        into(token, &members)
        let isFirst = strategy["inject_on_first_request"]?.isTruthy ?? false
        draft.set("paging", .object(members), comment: isFirst ? nil : "Airbyte's first request has no \(name)")
    }

    private func offsets(
        _ strategy: ConfigValue, _ token: RequestPlace?, _ size: Int64?, _ sizePlace: RequestPlace?
    ) throws {
        guard let token, let name = token.paging?.name else { throw Untranslatable("no parameter sends the offset") }
        var members: Members = [("style", "offset"), ("offset_parameter", .string(name))]
        place(size, sizePlace, beside: token, as: "limit_parameter", in: &members)
        if let size, !members.contains(where: { $0.key == "size" }) {
            // Airbyte only compares the size with the number of a page's records.
            members.append(("limit_parameter", .string("")))
            members.append(("size", .int(size)))
        }
        into(token, &members)
        draft.set("paging", .object(members))
    }

    // MARK: Cursors

    private func cursor(
        _ strategy: ConfigValue, _ token: RequestPlace?, _ size: Int64?, _ sizePlace: RequestPlace?, _ scope: Scope
    ) throws {
        let value = try Template(strategy["cursor_value"]?.printed ?? "", scope)
        guard let token, let expression = value.expression else {
            throw Untranslatable("only Python can compute the cursor \(strategy["cursor_value"]?.printed ?? "")")
        }
        var members: Members
        let (cursor, tests) = Self.parted(Self.plain(expression))
        switch cursor {
        case .path(let names) where names.first == "response" && names.contains("-1"):
            members = try keyset(Array(names.drop { $0 != "-1" }.dropFirst()), token)
        case .path(let names) where names.first == "last_record" && names.count > 1:
            members = try keyset(Array(names.dropFirst()), token)
        case .path(let names) where names.first == "last_records" && names.count > 2:
            members = try keyset(Array(names.dropFirst(2)), token)
        case .path(let names) where names.first == "response" && names.count > 1:
            members = next("path", RecordsPath.text(Array(names.dropFirst())), token)
        case .path(let names) where names.first == "headers" && names.count > 1:
            members =
                names[1].lowercased() == "link" && names.count > 2
                ? [("style", "link_header")] : next("header", names[1], token)
        case .binary("+", let left, let right): members = try counted(left, right, token, size)
        case let other: throw Untranslatable("only Python can compute the cursor {{ \(other.text) }}")
        }
        let isKeyset = members[0].value == "keyset"
        if case .path = token {
            place(size, sizePlace, beside: nil, as: "", in: &members)
        } else {
            let name = members[0].value == "offset" ? "limit_parameter" : "size_parameter"
            place(size, sizePlace, beside: token, as: name, in: &members)
            if !["link_header", "next_url"].contains(members[0].value.string) { into(token, &members) }
        }
        if members[0].value == "link_header" {
            members.removeAll { ["size", "size_parameter"].contains($0.key) }
            if let size, let sizePlace { sizePlace.put(.int(size), in: draft) }
        }
        stop(strategy["stop_condition"], of: cursor, isKeyset: isKeyset, scope, &members)
        for test in tests {
            do {
                try add(.not(test), of: cursor, isKeyset: isKeyset, to: &members)
            } catch {
                draft.doubt("paging: the scan does not end where \(test.text) is false")
            }
        }
        draft.set("paging", .object(members))
    }

    /// Removes the parts of an expression that only guard against missing values.
    private static func plain(_ expression: Expression) -> Expression {
        switch expression {
        case .binary("or", let value, let other) where other.known.map { !$0.isTruthy } ?? false: plain(value)
        case .conditional(let test, let value, let other)
        where isNothing(other) && test.guards(plain(value)): plain(value)
        case .binary("and", let test, let value) where test.guards(plain(value)): plain(value)
        // Airbyte reads the JSON of a text as that text.
        case .filter(let value, "tojson", _): plain(value)
        default: expression
        }
    }

    private static func isNothing(_ expression: Expression) -> Bool {
        expression.known.map { !$0.isTruthy || $0 == "None" } ?? false
    }

    /// Splits an expression into the cursor and the tests that must be true for the cursor to exist.
    private static func parted(_ expression: Expression) -> (cursor: Expression, tests: [Expression]) {
        switch expression {
        case .conditional(let test, let value, let other) where isNothing(other):
            let inner = parted(plain(value))
            return (inner.cursor, [test] + inner.tests)
        case .binary("and", let test, let value):
            let inner = parted(plain(value))
            return (inner.cursor, [test] + inner.tests)
        default: return (expression, [])
        }
    }

    private func next(_ member: String, _ place: String, _ token: RequestPlace) -> Members {
        guard let name = token.paging?.name else { return [("style", "next_url"), (member, .string(place))] }
        return [("style", "cursor"), (member, .string(place)), ("parameter", .string(name))]
    }

    private func keyset(_ field: [String], _ token: RequestPlace) throws -> Members {
        guard let name = token.paging?.name else { throw Untranslatable("the path of the next page is in a record") }
        return [
            ("style", "keyset"), ("field", .string(field.count == 1 ? field[0] : RecordsPath.text(field))),
            ("parameter", .string(name)),
        ]
    }

    /// Translates a cursor that adds one to the reply's page number, or a size to its offset.
    private func counted(_ left: Expression, _ right: Expression, _ token: RequestPlace, _ size: Int64?) throws
        -> Members
    {
        guard let name = token.paging?.name, case .path(let names) = Self.plain(left), names.first == "response" else {
            throw Untranslatable("only Python can compute the cursor \(left.text) + \(right.text)")
        }
        if right.known == 1 || right.known == "1" {
            draft.doubt(
                "paging: Airbyte adds one to \(names.dropFirst().joined(separator: ".")) of the reply; bmo counts from 1"
            )
            return [("style", "page"), ("page_parameter", .string(name)), ("start", 1)]
        }
        return [("style", "offset"), ("offset_parameter", .string(name))]
    }

    // MARK: The End

    private func stop(
        _ condition: ConfigValue?, of cursor: Expression, isKeyset: Bool, _ scope: Scope, _ members: inout Members
    ) {
        guard let condition, condition != .null, condition.printed != "" else { return }
        do {
            guard let expression = try Template(condition.printed, scope).expression else { throw Untranslatable("") }
            for end in Self.alternatives(expression) {
                try add(end, of: cursor, isKeyset: isKeyset, to: &members)
            }
        } catch {
            let end =
                ["cursor", "next_url", "link_header"].contains(members[0].value.string)
                ? "a page that names no next one" : "an empty page, or one without a cursor,"
            draft.doubt("stop_condition \(condition.printed) is not carried; \(end) ends the scan")
        }
    }

    /// The comparisons that are true where others are false.
    private static let opposites = ["<": ">=", ">": "<=", "!=": "==", ">=": "<"]

    private static func alternatives(_ expression: Expression) -> [Expression] {
        if case .binary("or", let left, let right) = expression { return alternatives(left) + alternatives(right) }
        if case .not(.binary("and", let left, let right)) = expression, !left.guards(plain(right)) {
            return alternatives(.not(left)) + alternatives(.not(right))
        }
        return [expression]
    }

    private func add(_ end: Expression, of cursor: Expression, isKeyset: Bool, to members: inout Members) throws {
        switch end {
        case .literal(let value) where !value.isTruthy: return
        case .not(let value) where Self.plain(value) == cursor: return
        case .not(.binary("in", .literal(let name), .path(let names)))
        where Self.is(cursor, below: names + [name.printed]):
            return
        case .binary("==", let value, let other) where Self.plain(value) == cursor && !(other.known?.isTruthy ?? true):
            return
        case .filter(let value, "is none", _) where Self.plain(value) == cursor: return
        case .not(.filter(let value, "is defined", _)) where Self.plain(value) == cursor: return
        case .not(.binary(let sign, let left, let right)) where Self.opposites[sign] != nil:
            try add(
                .binary(Self.opposites[sign] ?? "", left, right), of: cursor, isKeyset: isKeyset, to: &members)
        case .not(let count) where isCount(count):
            if count == .path(["last_page_size"]), isFiltered { throw Untranslatable("") }
            try endBelow(1, isKeyset: isKeyset, &members)
        case .not(let value):
            let plain = Self.plain(value)
            if case .path(let names) = plain, case .path(let own) = cursor, own.starts(with: names) { return }
            if !records.isEmpty, plain == .path(["response"] + records) {
                return try endBelow(1, isKeyset: isKeyset, &members)
            }
            try self.end("has_more", at: plain, &members)
        case .binary("==", let value, let other)
        where !records.isEmpty && Self.plain(value) == .path(["response"] + records) && other.known == .array([]):
            try endBelow(1, isKeyset: isKeyset, &members)
        case .binary(let sign, let count, let other) where ["==", "<", "<="].contains(sign) && isCount(count):
            guard let number = other.known?.int, number >= 0, number < Int64.max, sign != "==" || number == 0 else {
                throw Untranslatable("")
            }
            if count == .path(["last_page_size"]), isFiltered { throw Untranslatable("") }
            try endBelow(sign == "<" ? number : number + 1, isKeyset: isKeyset, &members)
        case .binary("==", let value, .literal(0)) where Self.isNumberOfRecords(Self.plain(value)),
            .binary("<", let value, .literal(1)) where Self.isNumberOfRecords(Self.plain(value)):
            try endBelow(1, isKeyset: isKeyset, &members)
        case .binary("==", let value, let other) where other.known == false:
            try self.end("has_more", at: Self.plain(value), &members)
        case .binary("==", let value, let other) where other.known == true:
            try self.end("done", at: Self.plain(value), &members)
        case .binary(let sign, let value, let other) where [">=", "==", "<="].contains(sign):
            // `response.page >= response.pages`, in either order.
            let (count, limit) = sign == "<=" ? (other, value) : (value, other)
            guard case .path(let names) = Self.plain(limit), names.first == "response" else {
                throw Untranslatable("")
            }
            guard let style = members[0].value.string, ["page", "offset"].contains(style),
                Self.isPosition(Self.plain(count), of: cursor, isPage: style == "page")
            else { throw Untranslatable("") }
            members.append((style == "page" ? "pages" : "total", .string(RecordsPath.text(Array(names.dropFirst())))))
        case .path:
            try self.end("done", at: end, &members)
        default: throw Untranslatable("")
        }
    }

    /// Whether an expression is the number of the page from which the cursor counts, or the end of a page with its offset.
    private static func isPosition(_ expression: Expression, of cursor: Expression, isPage: Bool) -> Bool {
        guard let own = cursor.paths.first(where: { $0.first == "response" }) else { return false }
        return isPage ? expression == .path(own) : expression.paths.contains(own)
    }

    /// Whether a member of the reply says how many records it has, or the listing: with 0, the page has none.
    ///
    /// A number of those that remain is 0 on a page with the last records.
    private static func isNumberOfRecords(_ expression: Expression) -> Bool {
        guard case .path(let names) = expression, names.first == "response", let name = names.dropFirst().last else {
            return false
        }
        return [
            "count", "length", "size", "total", "total_count", "total_items", "total_results", "total_records",
            "result_count", "results_count", "record_count", "records_count", "item_count", "items_count",
            "num_results", "num_records", "returned",
        ].contains(Functions.snakeCase(name).replacing("-", with: "_"))
    }

    /// Ends the scan at a page with fewer records.
    ///
    /// - Throws: ``Untranslatable`` if the style ends otherwise.
    private func endBelow(_ count: Int64, isKeyset: Bool, _ members: inout Members) throws {
        guard count > 0 else { return }
        if ["cursor", "next_url", "link_header"].contains(members[0].value.string) {
            let known = members.first { $0.key == "end_below" }?.value.int ?? 0
            members.removeAll { $0.key == "end_below" }
            members.append(("end_below", .int(max(known, count))))
            return
        }
        // Keys and numbers end with an empty page anyway, or with one that has fewer records than requested.
        guard count > 1 else { return }
        let size = members.first { $0.key == "size" }?.value
        if isKeyset, size == nil { members.append(("size", .int(count))) }
        if size != .int(count), !isKeyset || size != nil { throw Untranslatable("") }
    }

    private static func `is`(_ cursor: Expression, below path: [String]) -> Bool {
        if case .path(let names) = cursor { names.starts(with: path) } else { false }
    }

    /// Adds a member that ends the scan.
    ///
    /// - Throws: ``Untranslatable`` if there is such a member already.
    private func end(_ name: String, at expression: Expression, _ members: inout Members) throws {
        let place = ConfigValue.string(try place(expression))
        guard let known = members.first(where: { $0.key == name })?.value else {
            members.append((name, place))
            return
        }
        if known != place { throw Untranslatable("") }
    }

    /// Whether an expression is the number of a page's records.
    private func isCount(_ expression: Expression) -> Bool {
        switch expression {
        case .path(["last_page_size"]): true
        case .filter(let list, "length", _), .filter(let list, "count", _):
            Self.plain(list) == .path(["response"] + records)
        default: false
        }
    }

    private func place(_ expression: Expression) throws -> String {
        switch expression {
        case .path(let names) where names.first == "response" && names.count > 1:
            return RecordsPath.text(Array(names.dropFirst()))
        case .path(let names) where names.first == "headers" && names.count == 2: return names[1]
        default: throw Untranslatable("")
        }
    }
}
