import BridgeKit
import RESTBridge
import RecordBatch
import Testing
import TestSupport

/// What `bmo check` can say of a section without any request.
@Suite struct SectionValidatorTests {
    private func faults(
        _ section: Literal, parent: Literal? = nil, names: EntityNames? = nil, since: String? = nil,
        token: String? = nil, inherited: [String] = []
    ) throws -> [String] {
        // Nobody listens there.
        let bridge = try bridge(["url": "http://127.0.0.1:1"])
        var request = FetchRequest(entity: "User", section: section.options, parent: parent?.options)
        request.validates = true
        request.names = names
        request.since = since
        request.token = token
        request.inheritedMembers = inherited
        let source = try bridge.fetch(request)
        let writer = RecordBatchWriter()
        let page = try source.next(into: writer)
        #expect(page.isEnd)
        let batch = try writer.finish()
        return (0..<batch.count).map { "\(batch[$0]["key"]?.text ?? "-"): \(batch[$0]["message"]?.text ?? "")" }
    }

    @Test func `all faults are reported at once, each with its key`() throws {
        let faults = try faults([
            "path": "/users{", "records": "$..items", "paging": ["style": "cursor"],
            "headers": ["Bad Header": "x"], "filters": ["name": ["~": "q"]],
            "responses": [["status": 999, "action": "fail"]], "metadata": ["a": "b c"],
            "header_fields": ["etag": "$.x"], "query": ["q": "{parent.name}"],
            "write": ["create": ["path": "/x("], "delete": [:]],
        ])
        #expect(
            faults.map { String($0.prefix { $0 != ":" }) } == [
                "path", "records", "paging.path", "headers", "filters.name", "responses", "metadata.a",
                "header_fields.etag", "write.create.path", "query",
            ], "\(faults)")
    }

    @Test func `a good section has none, with a parent of names`() throws {
        #expect(try faults(["path": "/users(/{since})", "query": ["f": "{a}"], "paging": "auto"]).isEmpty)
        let child: Literal = ["path": "/teams/{parent.id}/users", "query": ["team": "{parent.name}"]]
        #expect(try faults(child, parent: ["id": "Team.id", "name": "Team.name"]).isEmpty)
        #expect(
            try faults(child, parent: ["id": "Team.id"]) == ["query: query: {parent.name} names no attribute"])
        #expect(try faults(child).map { String($0.prefix(8)) } == ["path: pa", "query: q"])
    }

    @Test func `a fault of the whole section is reported for the whole`() throws {
        #expect(
            try faults(["records": "$.data", "paging": ["style": "next_url", "path": "$.data.next"]])
                == ["-: the paging path $.data.next lies inside the records at $.data"])
    }

    @Test func `a field that is watched needs a place for what is known of it`() throws {
        let fault = "-: incremental names a field, but the section does not use {since}: "
        #expect(try faults(["path": "/users"], since: "User.updated").map { String($0.prefix(fault.count)) } == [fault])
        let sections: [Literal] = [
            ["query": ["since": "{since}"]], ["path": "/users(/{since})"], ["path": "/users{?since,x}"],
            ["body": ["filter": ["from": "{since}"]]], ["headers": ["If-Modified-Since": "{since}"]],
            ["graphql": ["query": "{a}", "variables": ["since": "{since}"]]],
        ]
        for section in sections { #expect(try faults(section, since: "User.updated").isEmpty) }
    }

    @Test func `a gap between windows needs a place for their end`() throws {
        let times: Literal = ["start": "2024-01-01", "window": "7d", "gap": "1d"]
        #expect(
            try faults(["query": ["from": "{since}"], "since": times])
                == ["since.gap: since.gap shortens {until}, but the section does not use {until}"])
        for section: Literal in [["path": "/users{?until}"], ["request_fields": ["@to": "{until}"]]] {
            #expect(try faults(section.adding(["since": times])).isEmpty)
        }
        #expect(
            try faults(["query": ["to": "{until}"], "since": ["start": "2024-01-01", "window": "1d", "gap": "1w"]])
                .map { String($0.prefix(21)) } == ["since.gap: since.gap "])
    }

    @Test func `times without a place in the request are reported`() throws {
        let fault = "since: since: the section does not use {since} or {until}"
        let times: [Literal] = [
            ["start": "2024-01-01"], ["start": "2024-01-01", "window": "200d"], ["until": "now+1d"], ["format": "%s"],
        ]
        for since in times {
            #expect(try faults(["path": "/users", "since": since]) == [fault])
            #expect(try faults(["path": "/users", "since": since], inherited: ["since", "path"]).isEmpty)
            let written: Literal = ["path": "/x", "since": since, "write": ["update": ["query": ["t": "{since}"]]]]
            #expect(try faults(written).contains(fault))
        }
        let users: [Literal] = [
            ["query": ["from": "{since}"]], ["path": "/users(/{since})"], ["path": "/users{?until,x}"],
            ["path": "/users/|since|"], ["body": ["range": ["to": "{until}"]]], ["headers": ["X-From": "{since}"]],
            ["graphql": ["query": "{ users(since: \"{since}\") { id } }"]], ["request_fields": ["@to": "{until}"]],
            ["records": "$.groups[?@.from=='{since}'].items"],
        ]
        for section in users {
            #expect(try faults(section.adding(["since": ["start": "2024-01-01", "window": "9999d"]])).isEmpty)
        }
        #expect(
            try faults(["path": "/users", "since": ["start": "2024-01-01"]], since: "User.updated")
                .map { String($0.prefix(31)) } == ["-: incremental names a field, b"], "one fault is enough")
    }

    @Test func `a list without a place in the request is reported`() throws {
        let lists: Literal = ["kind": ["email", "sms"], "state": ["open"]]
        #expect(
            try faults(["path": "/users{?state}", "each": lists])
                == ["each.kind: each.kind: the section does not use {kind}"])
        #expect(
            try faults(["path": "/users", "query": ["kind": "kind", "state": "open"], "each": lists])
                .map { String($0.prefix(10)) } == ["each.kind:", "each.state"])
        #expect(try faults(["path": "/users", "each": lists], inherited: ["each"]).isEmpty)
        let users: [Literal] = [
            ["path": "/{kind}/{+state}"], ["query": ["a": ["{kind}", "x-{state}"]]],
            ["body": ["a": ["b": "{kind}"]], "headers": ["X-State": "{state}"]],
            ["path": "/users/{kind}", "request_fields": ["@state": "{state}"]],
        ]
        for section in users { #expect(try faults(section.adding(["each": lists])).isEmpty) }
    }

    @Test func `several listings are reported where the entity's scans go on from a token`() throws {
        let parts: [(key: String, section: Literal)] = [
            ("each", ["query": ["kind": "{kind}"], "each": ["kind": ["email", "sms"]]]),
            ("split", ["query": ["a": "{from}", "b": "{to}"], "split": ["end": 9, "step": 3]]),
            ("since.window", ["query": ["a": "{since}"], "since": ["start": "2024-01-01", "window": "30d"]]),
        ]
        for (key, section) in parts {
            #expect(try faults(section).isEmpty)
            let found = try faults(section, token: "User.token")
            #expect(found.count == 1, "\(found)")
            #expect(found.first?.hasPrefix("\(key): incremental: token has no effect, ") == true, "\(found)")
        }
        let one: Literal = ["query": ["kind": "{kind}"], "each": ["kind": ["email"]]]
        #expect(try faults(one, token: "User.token").isEmpty)
        #expect(try faults(["path": "/users"], token: "User.token").isEmpty)
    }

    @Test func `an unknown variable is reported with the one that was meant`() throws {
        let section: Literal = [
            "path": "/users(/{sice})", "parameters": ["tenant": 7],
            "query": ["since": "{sinc}", "t": "{tennant}", "p": "{parnt.id}", "f": "{status} {a}"],
        ]
        #expect(
            try faults(section, since: "User.updated") == [
                #"query: query: {sinc} is not a variable (did you mean "since"?)"#,
                #"query: query: {tennant} is not a variable (did you mean "tenant"?)"#,
                #"query: query: {parnt.id} is not a variable (did you mean "parent"?)"#,
                #"path: path: {sice} is not a variable (did you mean "since"?)"#,
            ])
    }

    private let names = EntityNames(fields: ["id", "name", "etag", "owner"], key: ["id"])

    @Test func `names of missing attributes are reported, with what was meant`() throws {
        let section: Literal = [
            "path": "/users(/{key.uid})", "filters": ["nmae": "q", "owner": "owner"],
            "query": ["a": "{object.id}", "b": "{parent.titel}", "c": "{since} {x}"],
            "write": [
                "if_match": "etagg",
                "update": [
                    "path": "/users/{key}/{object.ownr}", "headers": ["X-Rev": "{object.rev}"],
                    "query": ["name": "{object.name}"], "forced": ["by.team": "{parent.id}", "n": "{key.nr}"],
                ],
                "create": ["path": "/users/{team}"], "delete": [:],
            ],
        ]
        let faults = try faults(section, parent: ["id": "Team.id", "title": "Team.title"], names: names)
        #expect(
            faults == [
                "query: query: {object.id} never has a value: only a write has an object",
                #"query: query: {parent.titel} names no attribute (did you mean "title"?)"#,
                #"write.update.headers: write.update.headers: {object.rev} names no attribute"#,
                #"write.update.forced: write.update.forced: {key.nr} names no attribute"#,
                #"path: path: {key.uid} names no attribute (did you mean "id"?)"#,
                #"filters.nmae: filters.nmae: "nmae" names no attribute (did you mean "name"?)"#,
                #"write.if_match: write.if_match: "etagg" names no attribute (did you mean "etag"?)"#,
                "write.create.path: write.create.path: {team} never has a value",
                #"write.update.path: write.update.path: {object.ownr} names no attribute (did you mean "owner"?)"#,
            ], "\(faults.joined(separator: "\n"))")
        let good: Literal = [
            "path": "/users", "filters": ["owner": "o"], "parameters": ["team": "a"],
            "write": ["if_match": "etag", "update": ["path": "/{team}/{key}/{object.owner}"], "delete": [:]],
        ]
        #expect(try self.faults(good, names: names).isEmpty)
        // A host that does not tell the names has nothing to hold them against.
        #expect(try self.faults(["filters": ["nmae": "q"], "write": ["if_match": "x", "delete": [:]]]).isEmpty)
    }

    @Test func `a member that a body would leave out is reported`() throws {
        let graphQL: Literal = ["query": "mutation { a }"]
        #expect(
            try faults([
                "path": "/users",
                "write": [
                    "create": ["graphql": graphQL, "format": "json_patch"],
                    "update": ["envelope": ["data": [:]], "format": "json_patch"],
                    "delete": ["graphql": graphQL, "envelope": ["data": [:]]],
                ],
            ]) == [
                #"write.create.format: write.create.format is "json_patch" with graphql"#,
                "write.update.envelope: write.update.envelope cannot be used with a json_patch",
                "write.delete.envelope: write.delete.envelope cannot be used with graphql",
            ])
        for format in ["merge_patch", "form", "full"] {
            let section: Literal = ["write": ["update": ["graphql": graphQL, "format": .text(format)]]]
            #expect(try faults(section).map { String($0.prefix(20)) } == ["write.update.format:"])
        }
        let good: Literal = [
            "path": "/users",
            "write": [
                "create": ["graphql": graphQL, "format": "json"], "update": ["format": "json_patch"],
                "delete": ["envelope": ["id": "{key}"], "format": "form"],
            ],
        ]
        #expect(try faults(good).isEmpty)
    }

    @Test func `the path of a key of several parts has to be said`() throws {
        let names = EntityNames(fields: ["shop", "number"], key: ["shop", "number"])
        let section: Literal = ["path": "/orders", "write": ["update": [:], "delete": ["path": "/orders/{key}"]]]
        #expect(
            try faults(section, names: names) == [
                "write.update: write.update: its path cannot be derived from a key of 2 parts",
                "write.delete.path: write.delete.path: {key} stands for a key of one part, but this one has 2",
            ])
    }

    @Test func `a warning names a part of a nested object whose other parts cannot be kept`() throws {
        let names = EntityNames(fields: ["id", "city"], key: ["id"], nested: ["city"])
        func warnings(_ update: Literal) throws -> [String] {
            try faults(["path": "/x", "write": ["update": update]], names: names)
        }
        let posted: Literal = ["method": "POST", "path": "/set/{key}"]
        let found = try warnings(posted)
        #expect(found.count == 1)
        #expect(
            found.first?.contains("city goes inside nested objects, which cannot be read before they are sent")
                == true,
            "\(found)")
        #expect(try warnings([:]).isEmpty)
        #expect(try warnings(["method": "POST", "path": "/set/{key}", "nested": "part"]).isEmpty)
        #expect(try warnings(["method": "POST", "path": "/set/{key}", "format": "merge_patch"]).isEmpty)
    }
}
