internal import Mapping
internal import Model
internal import StoreContract

extension StoreCheck {
    /// Queries and status.
    static let queries = [
        StoreCheck("conditions-select", conditionsSelect), StoreCheck("predicates-combine", predicatesCombine),
        StoreCheck("decimals-are-compared-exactly", decimalsAreComparedExactly),
        StoreCheck("queries-sort-and-page", queriesSortAndPage), StoreCheck("stubs-are-left-out", stubsAreLeftOut),
        StoreCheck("rows-are-found-by-key", rowsAreFoundByKey),
        StoreCheck("invalid-queries-are-refused", invalidQueriesAreRefused),
        StoreCheck("the-status-counts", theStatusCounts),
    ]

    private static func world(_ subject: StoreSubject) throws -> StoreSession {
        let session = try subject.open()
        try session.add(
            SampleModel.country,
            ["code": .text("DK"), "name": .text("Danmark"), "people": .integer(6), "area": .text("9.0")],
            ["code": .text("NO"), "name": .text("Norge"), "people": .integer(5), "area": .text("10.5")],
            ["code": .text("SE"), "name": .text("Sverige"), "people": .integer(10)],
            ["code": .text("XX"), "area": .text("100")])
        return session
    }

    private static func codes(_ session: StoreSession, _ query: RowQuery) throws -> String {
        try session.store.rows(of: query).map { StoreSession.text($0.key) }.joined(separator: " ")
    }

    private static func conditionsSelect(_ subject: StoreSubject) throws {
        let session = try world(subject)
        let cases: [(LocalCondition, String)] = [
            (LocalCondition(field: "people", comparison: .equal, value: "5"), "NO"),
            (LocalCondition(field: "people", comparison: .atLeast, value: "6"), "DK SE"),
            (LocalCondition(field: "people", comparison: .less, value: "6"), "NO"),
            (LocalCondition(field: "people", comparison: .equal, value: nil), "XX"),
            (LocalCondition(field: "people", comparison: .notEqual, value: nil), "DK NO SE"),
            (LocalCondition(field: "name", comparison: .like, value: "%R_e"), "NO"),
            (LocalCondition(field: "area", comparison: .greater, value: "9.5"), "NO XX"),
            (LocalCondition(field: "area", comparison: .equal, value: "9"), "DK"),
            (LocalCondition(field: "area", comparison: .equal, value: "10.50"), "NO"),
            (LocalCondition(field: "area", comparison: .notEqual, value: "9.00"), "NO XX"),
        ]
        for (condition, expected) in cases {
            let what = "rows where \(condition.field) \(condition.comparison.rawValue) \(condition.value ?? "null")"
            try expect(what, try codes(session, RowQuery("Country", where: [condition])), expected)
            var rows: [String] = []
            let query = RowQuery("Country", where: [condition])
            try session.store.rows(of: query) { rows.append($0.values[0].description) }
            try expect(what, rows.joined(separator: " "), expected)
        }
    }

    private static func predicatesCombine(_ subject: StoreSubject) throws {
        let session = try world(subject)
        let cases: [(String, RowPredicate, String)] = [
            ("all", .all([.compare("people", .greater, .integer(5)), .compare("people", .less, .integer(10))]), "DK"),
            ("any", .any([.compare("code", .equal, .text("SE")), .isNull("people")]), "SE XX"),
            ("in", .isIn("code", [.text("NO"), .text("XX"), .text("??")]), "NO XX"),
            ("in nothing", .isIn("code", []), ""), ("no part of all", .all([]), "DK NO SE XX"),
            ("no part of any", .any([]), ""), ("not less", .not(.compare("people", .less, .integer(6))), "DK SE XX"),
            ("differs", .compare("people", .notEqual, .integer(5)), "DK SE XX"),
            ("decimals", .compare("area", .atMost, .text("10.50")), "DK NO"),
        ]
        for (what, predicate, expected) in cases {
            var query = RowQuery("Country")
            query.predicate = predicate
            try expect("rows of the predicate: \(what)", try codes(session, query), expected)
            try expect(
                "count of the predicate: \(what)", try session.store.count(of: query),
                expected.split(separator: " ").count)
        }
    }

    private static func decimalsAreComparedExactly(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let areas = [
            "a": "12345678901234567890", "b": "12345678901234567891", "c": "0.10", "d": "0.10000000000000000001",
            "e": "-5", "f": "1" + String(repeating: "0", count: 400),
        ]
        for (code, area) in areas.sorted(by: { $0.key < $1.key }) {
            try session.add(SampleModel.country, ["code": .text(code), "area": .decimal(area)])
        }
        let cases: [(Comparison, String, String)] = [
            (.equal, "12345678901234567890", "a"), (.greater, "12345678901234567890", "b f"),
            (.atMost, "12345678901234567890", "a c d e"), (.less, "12345678901234567891", "a c d e"),
            (.equal, "0.1", "c"), (.notEqual, "0.1", "a b d e f"), (.greater, "1e-1", "a b d f"),
            (.greater, "1e399", "f"), (.equal, "1e400", "f"), (.less, "-4.99999999999999999999", "e"),
        ]
        for (comparison, value, expected) in cases {
            let condition = LocalCondition(field: "area", comparison: comparison, value: value)
            try expect(
                "rows where area \(comparison.rawValue) \(value)",
                try codes(session, RowQuery("Country", where: [condition])), expected)
        }
        var query = RowQuery("Country")
        query.predicate = .isIn("area", [.decimal("0.1"), .decimal("12345678901234567891"), .decimal("7")])
        try expect("rows with one of several decimals", try codes(session, query), "b c")
        query.predicate = .compare("area", .equal, .decimal("0.100"))
        try expect("rows with an equal decimal", try codes(session, query), "c")
        try expect("the order", try codes(session, RowQuery("Country", order: [.init("area")])), "e c d a b f")
    }

    private static func queriesSortAndPage(_ subject: StoreSubject) throws {
        let session = try world(subject)
        let orders: [(String, [RowQuery.Order], String)] = [
            ("the key", [], "DK NO SE XX"), ("people", [.init("people")], "XX NO DK SE"),
            ("people, descending", [.init("people", isDescending: true)], "SE DK NO XX"),
            ("decimals", [.init("area")], "SE DK NO XX"),
        ]
        for (what, order, expected) in orders {
            var query = RowQuery("Country", order: order)
            try expect("the order by \(what)", try codes(session, query), expected)
            query.limit = 2
            query.offset = 1
            let codes = expected.split(separator: " ")
            try expect("a part by \(what)", try Self.codes(session, query), codes[1...2].joined(separator: " "))
            try expect("the count of a part", try session.store.count(of: query), 4)
            query.offset = 0
            query.limit = nil
            for place in 0..<3 {
                let all = try session.store.rows(of: RowQuery("Country", order: order))
                query.after = all[place]
                try expect(
                    "the rows after row \(place) by \(what)", try Self.codes(session, query),
                    codes[(place + 1)...].joined(separator: " "))
            }
        }
    }

    private static func stubsAreLeftOut(_ subject: StoreSubject) throws {
        let session = try world(subject)
        try session.page { _ = try $0.ensure(SampleModel.country, .text("EE")) }
        var query = RowQuery("Country")
        try expect("all rows", try codes(session, query), "DK EE NO SE XX")
        query.includesStubs = false
        try expect("the rows other than stubs", try codes(session, query), "DK NO SE XX")
        try expect("the number of rows other than stubs", try session.store.count(of: query), 4)
        query.limit = 2
        query.offset = 1
        try expect("a part of the rows other than stubs", try codes(session, query), "NO SE")
        var streamed: [String] = []
        try session.store.rows(of: query) { streamed.append(StoreSession.text($0.key)) }
        try expect("the same part, row by row", streamed, ["NO", "SE"])
        try expect("the number, ignoring the limit", try session.store.count(of: query), 4)
    }

    private static func rowsAreFoundByKey(_ subject: StoreSubject) throws {
        let session = try world(subject)
        let rows = try session.store.rows(of: SampleModel.country, keys: [[.text("SE")], [.text("??")], [.text("DK")]])
        try expect("rows by key", Set(rows.map(\.key)), [[.text("SE")], [.text("DK")]])
        try expect(
            "the columns of a row", rows[0].values.count, session.model.entities[SampleModel.country].columns.count)
        try expect("a parsed key", try session.store.key(of: SampleModel.city, from: ["7"]), [.integer(7)])
        try expectError("a key of another type", .request) {
            _ = try session.store.key(of: SampleModel.city, from: ["x"])
        }
    }

    private static func invalidQueriesAreRefused(_ subject: StoreSubject) throws {
        let session = try world(subject)
        var predicate = RowQuery("Country")
        predicate.predicate = .isNull("x")
        let queries: [(String, RowQuery)] = [
            ("an unknown entity", RowQuery("X")),
            ("an unknown field", RowQuery("Country", where: [.init(field: "x", comparison: .equal, value: "1")])),
            ("an unknown field of a predicate", predicate),
            ("an unknown order", RowQuery("Country", order: [.init("x")])),
            (
                "a value of another type",
                RowQuery("Country", where: [.init(field: "people", comparison: .equal, value: "x")])
            ),
        ]
        for (what, query) in queries { try expectError(what, .request) { _ = try session.store.rows(of: query) } }
    }

    private static func theStatusCounts(_ subject: StoreSubject) throws {
        let session = try subject.open()
        let run = try session.run {
            try session.page { page in
                try page.merge(SampleModel.country, ["code": .text("NO"), "capital": .integer(1)])
                _ = try page.ensure(SampleModel.city, .integer(1))
            }
        }
        let status = try session.store.status()
        try expect("the entities", status.map(\.name), session.model.entities.map(\.name))
        try expect("rows and stubs of countries", [status[0].rows, status[0].stubs], [1, 0])
        try expect("rows and stubs of cities", [status[1].rows, status[1].stubs], [0, 1])
        try expect("the last run", status[0].lastRun, run)
    }
}
