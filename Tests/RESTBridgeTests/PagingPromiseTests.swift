import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Replies that say that there is more: none of them may pass for the whole listing, whose absent rows are deleted.
@Suite struct PagingPromiseTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.shared.get()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    /// What the server says at first, and to requests for a later page.
    private func path(_ body: String, then later: String? = nil) -> String {
        "/say?body=\(encode(body))" + (later.map { "&then=\(encode($0))" } ?? "")
    }

    private func encode(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    private func scan(_ path: String) throws -> Scan {
        try Scan(source(bridge, ["path": .text(path)]))
    }

    @Test(arguments: [
        (#"{"items":[{"id":1}],"truncated":true}"#, "$.truncated is true"),
        (#"{"items":[{"id":1}],"truncated":"true"}"#, "$.truncated is true"),
        (#"{"items":[{"id":1}],"remaining":30}"#, "$.remaining is 30"),
        (#"{"Items":[{"id":1}],"LastEvaluatedKey":{"id":{"S":"1"}}}"#, "$.LastEvaluatedKey has a value"),
        (#"{"items":[{"id":1}],"isLast":false}"#, "$.isLast is false"),
        (#"{"items":[{"id":1}],"pagination":{"last":3}}"#, "$.pagination.last is 3"),
        (#"{"tracks":{"items":[{"id":1}],"incomplete_results":true}}"#, "$.tracks.incomplete_results is true"),
        (#"{"items":[{"id":1}],"meta":{"nextBatch":{"id":1}}}"#, "$.meta.nextBatch has a value"),
        (#"{"items":[{"id":1}],"total":1,"truncated":true}"#, "$.truncated is true"),
    ])
    func `what says that there is more, and not how to ask, is named`(body: String, what: String) throws {
        let scan = try scan(path(body))
        #expect(scan.ids == [1])
        #expect(scan.last?.isComplete == false)
        #expect(
            scan.warnings == [
                "\(what): there is more, but nothing says how to request it, so the listing is not complete: set paging"
            ])
    }

    @Test(arguments: [
        #"{"items":[{"id":1}],"truncated":false,"remaining":0,"isLast":true,"next_cursor":null}"#,
        #"{"items":[{"id":1,"next":"x","truncated":true}],"last":true,"LastEvaluatedKey":null}"#,
        #"{"id":1,"next_page":true,"remaining":5}"#,
        #"{"metadata":{"continue":""},"items":[{"id":1}]}"#,
        #"{"tracks":{"items":[{"id":1}],"total":1,"next":null}}"#,
    ])
    func `a reply that says it is the last is the whole listing`(body: String) throws {
        let scan = try scan(path(body))
        #expect(scan.ids == [1])
        #expect(scan.last?.isComplete == true, "\(scan.warnings)")
    }

    @Test func `a next URL beside the list is followed, wherever the list stands`() throws {
        let second = path(#"{"tracks":{"items":[{"id":2}],"total":2,"next":null}}"#)
        let scan = try scan(path(#"{"tracks":{"items":[{"id":1}],"total":2,"next":"\#(second)"}}"#))
        #expect(scan.ids == [1, 2])
        #expect(scan.last?.isComplete == true)
    }

    @Test(arguments: [
        (
            #"{"values":[{"id":1}],"isLast":false,"startAt":0,"maxResults":1}"#,
            #"{"values":[],"isLast":true,"startAt":1}"#
        ),
        (#"{"metadata":{"continue":"2"},"items":[{"id":1}]}"#, #"{"metadata":{},"items":[]}"#),
    ])
    func `Jira's isLast and Kubernetes' continue are followed`(first: String, later: String) throws {
        let scan = try scan(path(first, then: later))
        #expect(scan.ids == [1])
        #expect(scan.pages.count == 2)
        #expect(scan.last?.isComplete == true, "\(scan.warnings)")
    }

    @Test func `a flag that is a text is one`() throws {
        let scan = try scan(
            path(
                #"{"page":1,"has_more":"true","items":[{"id":1}]}"#,
                then: #"{"page":2,"has_more":"false","items":[{"id":2}]}"#))
        #expect(scan.ids == [1, 2])
        #expect(scan.last?.isComplete == true, "\(scan.warnings)")
    }

    @Test func `a guess that the server ignores says that it was one`() throws {
        let error = try bridgeError { _ = try scan(path(#"{"items":[{"id":1}],"has_more":true}"#)) }
        #expect(error.message.contains("two pages in a row hold the same records"))
        #expect(
            error.remedy?.contains("guessed") == true
                && error.remedy?.hasSuffix("paging: none if one reply is all") == true)
    }

    @Test(arguments: ["null", #""""#])
    func `a null next page ends the listing where has_more looks at it`(next: String) throws {
        let first = #"{"items":[{"id":1}],"next":\#(next)}"#
        let section: Literal = [
            "path": .text(path(first, then: #"{"items":[{"id":2}],"next":null}"#)),
            "paging": ["style": "keyset", "field": "id", "parameter": "startAt", "has_more": "$.next"],
        ]
        let scan = try Scan(source(bridge, section))
        #expect(scan.ids == [1])
        #expect(scan.last?.isComplete == true)
    }

    // MARK: Objects by their ids

    @Test(arguments: [2, 47, 50, 51, 150])
    func `objects by their ids are found whatever the size of the reply`(count: Int) throws {
        let members = (1...count).map {
            #""k\#($0)":{"id":\#($0),"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"t":["x"],"u":[{"v":1}]}"#
        }
        let scan = try scan(path("{" + members.joined(separator: ",") + "}"))
        #expect(scan.ids == Array(1...count))
        // What stands behind them is not missed either.
        let more = try self.scan(path(#"{"data":{"# + members.joined(separator: ",") + #"},"truncated":true}"#))
        #expect(more.last?.isComplete == false, "\(more.warnings)")
    }

    // MARK: One reply that is none

    @Test(arguments: [
        (#"{"items":[{"id":1}],"next":"https://x.example/2"}"#, "$.next holds a URL"),
        (#"{"items":[{"id":1}],"links":{"next":{"href":"/2"}}}"#, "$.links.next.href holds a URL"),
        (#"{"items":[{"id":1}],"total":3}"#, "$.total is 3, and 1 came"),
        (#"{"items":[{"id":1}],"meta":{"has_more":true}}"#, "$.meta.has_more is true"),
        (#"{"items":[{"id":1}],"next_cursor":"abc"}"#, "$.next_cursor has a value"),
        (#"{"items":[{"id":1}],"page":1,"total_pages":4}"#, "$.total_pages is 4"),
        (
            #"{"data":{"users":{"nodes":[{"id":1}],"pageInfo":{"hasNextPage":true}}}}"#,
            "$.data.users.pageInfo.hasNextPage is true"
        ),
    ])
    func `paging none on a reply that shows more is reported, and deletes nothing`(body: String, sign: String) throws {
        for paging: Literal in ["none", ["style": "none"]] {
            let scan = try Scan(source(bridge, ["path": .text(path(body)), "paging": paging]))
            #expect(scan.ids == [1])
            #expect(scan.last?.isComplete == false)
            #expect(
                scan.warnings == [
                    "paging is none, but the reply says that there is more (\(sign)), so the listing is not complete: set "
                        + "paging, or paging: {style: none, whole: true} if this is complete nevertheless"
                ])
        }
        let told: Literal = ["path": .text(path(body)), "paging": ["style": "none", "whole": true]]
        #expect(try Scan(source(bridge, told)).last?.isComplete == true)
    }

    @Test(arguments: [
        #"{"items":[{"id":1}],"next":null,"total":1}"#, #"{"items":[{"id":1}],"has_more":false,"next":"/again"}"#,
        #"{"items":[{"id":1,"next":"/x"}],"pages":300}"#, #"{"id":1,"next":"/2","total":9,"total_pages":3}"#,
        #"[{"id":1,"total":5}]"#, #"{"items":[{"id":1}],"page":1,"total_pages":1}"#,
    ])
    func `paging none is taken at its word where nothing speaks against it`(body: String) throws {
        let scan = try Scan(source(bridge, ["path": .text(path(body)), "paging": "none"]))
        #expect(scan.ids == [1])
        #expect(scan.last?.isComplete == true, "\(scan.warnings)")
    }

    @Test func `paging none does not hide a Link header`() throws {
        let server = try RemoteServer.shared.get()
        let linked = try RESTBridgeTests.bridge(["url": "\(server.url)"])
        let scan = try Scan(source(linked, ["path": "/users/link", "paging": "none"]))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings.first?.contains("(the Link header names a next page)") == true, "\(scan.warnings)")
    }

    // MARK: Nothing

    @Test(arguments: [
        "{}", " {}\n", #"{"start":0,"total_size":0,"http_etag":"x"}"#, #"{"meta":{"total_count":0}}"#,
    ])
    func `a reply that leaves the list out because it is empty has no records`(body: String) throws {
        for records in [nil, "$.runs"] {
            var section: Literal.Members = [("path", .text(path(body)))]
            if let records { section.append(("records", .text(records))) }
            let scan = try Scan(source(bridge, .object(section)))
            #expect(scan.records.isEmpty)
            #expect(scan.last?.isComplete == true)
            #expect(scan.warnings.isEmpty)
        }
    }

    @Test(arguments: [#"{"id":1,"total_count":0}"#, #"{"number":"A7","total":0}"#, #"{"id":1,"count":0,"name":"x"}"#])
    func `an object that counts nothing is a record all the same`(body: String) throws {
        #expect(try scan(path(body)).records == [body])
    }

    @Test(arguments: [#"{"error":"no"}"#, #"{"success":false,"total":0}"#, #"{"things":[{"id":1}],"total":0}"#, "7"])
    func `a reply that lacks the list and is not empty is an error`(body: String) throws {
        let section: Literal = ["path": .text(path(body)), "records": "$.items"]
        _ = try bridgeError { _ = try Scan(source(bridge, section)) }
    }

    @Test(arguments: [(50, false), (100, false), (500, false), (49, true), (60, true), (150, true)])
    func `as many records as pages often have may not be all`(count: Int, isComplete: Bool) throws {
        let body = "[" + (1...count).map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
        let scan = try scan(path(body))
        #expect(scan.ids.count == count)
        #expect(scan.last?.isComplete == isComplete)
        #expect(
            scan.warnings
                == (isComplete
                    ? []
                    : [
                        "just \(count) records arrived, a common page size, and nothing says whether there are "
                            + "more, so the listing is not complete: set paging, or paging: none if that is all"
                    ]))
        let told = try Scan(source(bridge, ["path": .text(path(body)), "paging": "none"]))
        #expect(told.last?.isComplete == true)
    }

    // MARK: Counts

    private func zoo(_ path: String, paging: Literal = "auto") throws -> Scan {
        try Scan(source(bridge, ["path": .text("/zoo/" + path), "paging": paging]))
    }

    @Test(arguments: [
        "page-count", "page-count?unlimited=1", "offset-count", "query-count?page=1", "query-count?page=1&limit=10",
    ])
    func `a count of the page's records is not a total`(path: String) throws {
        let scan = try zoo(path)
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.isEmpty)
        #expect(scan.pages.first?.metadata["paging"]?.contains("$.count") == false)
        let cursor = try #require(scan.pages[0].cursor)
        let rest = try Scan(source(bridge, ["path": .text("/zoo/" + path)], cursor: cursor))
        #expect(rest.ids == Array(11...25))
    }

    @Test(arguments: ["just-full", "just-full?then=gone"])
    func `a total that is the size of a page costs a request to confirm it`(path: String) throws {
        let scan = try zoo(path)
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == true)
        #expect(scan.warnings.isEmpty)
    }

    @Test func `a full page that comes whatever is asked for may not be all`() throws {
        let scan = try zoo("just-full?then=same")
        #expect(Set(scan.ids) == Set(1...10))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings.count == 1)
        #expect(scan.warnings.first?.contains("nothing says whether there are more") == true)
    }

    @Test func `just as many records as the reply counts and allows may not be all`() throws {
        let scan = try scan(path(#"{"items":[{"id":1},{"id":2}],"count":2,"limit":2}"#))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings.first?.hasPrefix("just the 2 records arrived that limit=2 requests") == true)
        #expect(try self.scan(path(#"{"items":[{"id":1}],"count":1,"limit":2}"#)).last?.isComplete == true)
    }

    @Test(arguments: [(#""count":50"#, 50), (#""meta":{"count":50}"#, 50), (#""count":49"#, 49)])
    func `a count of the records of the only page is not a total`(member: String, count: Int) throws {
        let items = (1...count).map { #"{"id":\#($0)}"# }.joined(separator: ",")
        let scan = try scan(path(#"{\#(member),"items":[\#(items)]}"#))
        #expect(scan.ids.count == count)
        #expect(scan.last?.isComplete == (count == 49), "\(scan.warnings)")
        #expect(
            scan.warnings.first?.hasPrefix("just 50 records arrived, a common page size") == (count == 50 ? true : nil))
    }

    @Test func `a total that the config names is one`() throws {
        let scan = try zoo("page-count", paging: ["style": "page", "total": "$.count"])
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == true)
    }

    // MARK: Samples

    /// The offers for replies at paths of their own.
    private func sampled(at replies: [(path: String, body: String)]) throws -> String {
        let samples = replies.map { Literal.text("\(server.url)\($0.path)?body=\(encode($0.body))") }
        let bridge = try RESTBridgeTests.bridge(["url": "\(server.url)", "introspect": ["samples": .array(samples)]])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }.joined(separator: "\n")
    }

    @Test func `a sample whose path holds the key of another one's object has that as its parent`() throws {
        let teams = (path: "/say/teams", body: #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)
        let members = #"[{"id":7},{"id":8}]"#
        let both = try sampled(at: [teams, ("/say/teams/1/members", members)])
        #expect(both.contains(#""parent":"team""#) && both.contains(#""path":"/teams/{parent.id}/members""#), "\(both)")
        let alone = try sampled(at: [teams, ("/say/teams/9/members", members)])
        #expect(!alone.contains(#""parent":"team""#) && alone.contains("9 in its path looks like the key"), "\(alone)")
    }

    @Test func `what no two records share together is the key`() throws {
        let offer = try sampled(
            #"[{"kind":"a","name":"x","at":"b","n":1},{"kind":"a","name":"x","at":"c","n":2},{"kind":"b","name":"y","at":"b","n":2}]"#
        )
        #expect(offer.contains(#""name":"name","type":"text","key":true"#), "\(offer)")
        #expect(offer.contains(#""name":"at","type":"text","key":true"#) && !offer.contains("obstacle"), "\(offer)")
        #expect(offer.contains("unique in the sample only in combination"))
        let nested = try sampled(#"[{"m":{"job":"a","ort":"x"}},{"m":{"job":"a","ort":"y"}}]"#)
        #expect(nested.contains(#""name":"m.ort","type":"text","key":true"#), "\(nested)")
    }

    @Test func `a member that is named like another sample and has some of its keys refers to it`() throws {
        let posts = (path: "/say/posts", body: #"[{"id":1,"tags":[5,6],"tag":9},{"id":2,"tags":[],"tag":8}]"#)
        let tags = (path: "/say/tags", body: #"[{"id":5,"post":2},{"id":7,"post":1}]"#)
        let both = try sampled(at: [posts, tags])
        #expect(both.contains(#"{"name":"tags","many":"Tag","from":"tags""#), "\(both)")
        #expect(both.contains(#"{"name":"post","to":"Post","from":"post""#), "\(both)")
        // 8 and 9 are no tags of the sample: they may be anything.
        #expect(both.contains(#"{"name":"tag","type":"integer""#), "\(both)")
    }

    @Test func `a list within a record that is only named like the entity is not a list of it`() throws {
        let rules = #"[{"name":"g","file":"f","rules":[{"name":"r","state":"ok","query":"q"}]}]"#
        let offer = try sampled(at: [("/say/rules", rules)])
        #expect(offer.contains(#"{"name":"rules","type":"json""#) && !offer.contains(#""many""#), "\(offer)")
        let tree = #"[{"name":"a","file":"f","rules":[{"name":"b","file":"g"}]}]"#
        #expect(try sampled(at: [("/say/rules", tree)]).contains(#"{"name":"rules","many":"Rule""#))
    }

    @Test func `a script or a word of the API's own does not name the entity`() throws {
        let list = #"{"batchcomplete":"","query":{"allpages":[{"pageid":1},{"pageid":2}]}}"#
        #expect(try sampled(at: [("/say/api.php", list)]).contains(#"{"name":"Allpage""#))
        let catalog = try sampled(at: [("/say/_catalog", #"{"repositories":["a","b"]}"#)])
        #expect(
            catalog.contains(#"{"name":"Repository""#) && catalog.contains(#""name":"@value","type":"text","key":true"#)
        )
    }

    @Test func `lists that are alike are one listing by their names`() throws {
        let body =
            #"{"data":{"a":[{"help":"x","unit":""}],"b":[{"help":"y","unit":""}],"c":[{"help":"x","unit":"s"}]}}"#
        let offer = try sampled(body)
        #expect(
            offer.contains(#""records":"$.data.*""#) && offer.contains(#""name":"@key","type":"text","key":true"#),
            "\(offer)")
    }

    @Test func `a text like a version is not taken for a decimal`() throws {
        let offer = try sampled(#"[{"id":1,"api_version":"1.1","code":"1.1","price":"1.50"}]"#)
        #expect(offer.contains(#""name":"api_version","type":"text""#), "\(offer)")
        func confidence(_ name: String) -> String? {
            offer.firstRange(of: #""name":"\#(name)""#).map { String(offer[$0.upperBound...].prefix { $0 != "}" }) }
        }
        #expect(confidence("code")?.contains(#""type":"decimal""#) == true)
        #expect(confidence("code")?.contains(#""confidence":"medium""#) == true)
        #expect(confidence("price")?.contains(#""confidence":"high""#) == true)
    }

    private func sampled(_ body: String) throws -> String {
        let bridge = try RESTBridgeTests.bridge([
            "url": "\(server.url)", "introspect": ["samples": [.text(server.url + path(body))]],
        ])
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }.joined(separator: "\n")
    }

    @Test(arguments: [
        (#"{"items":[{"id":1},{"id":2}],"truncated":true}"#, "$.truncated is true: there is more"),
        (#"[{"id":1,"big":9223372036854775808},{"id":2,"big":1}]"#, #""name":"big","type":"decimal""#),
        (#"{"pending":[],"running":[{"id":1}],"done":[]}"#, "pending, done may have records too"),
        (#"[{"name":"a","path":"x/a"},{"name":"b","path":"x/b"}]"#, #""name":"path","type":"text","key":true"#),
        (
            #"[{"package_name":"a","description":"d"},{"package_name":"b","description":"e"}]"#,
            #""name":"package_name","type":"text","key":true"#
        ),
        (
            #"{"facets":[{"name":"x"}],"columns":["id","name"],"rows":[[1,"a"],[2,"b"]]}"#,
            #""records":"$.rows","columns":"$.columns""#
        ),
        (#"[["id","name"],[1,"a"],[2,"b"]]"#, #""columns":"$[0]""#),
        (#"[{"id":1,"":"x"},{"id":2}]"#, "left out: a member whose name is empty"),
        (#"{"id":7,"name":"Lyon","weather":[{"id":800,"main":"Clear"}],"cod":200}"#, #""records":"$""#),
    ])
    func `a sample is described as a scan will find it`(body: String, expected: String) throws {
        let offer = try sampled(body)
        #expect(offer.contains(expected), "\(offer)")
    }

    @Test func `a bare number is a reference where an entity of that name has such keys, a word for places is none`()
        throws
    {
        let offers = try sampled(at: [
            ("/say/owners", #"[{"id":1},{"id":2}]"#), ("/say/orders", #"[{"id":1},{"id":2}]"#),
            ("/say/pets", #"[{"id":8,"owner":1,"order":2},{"id":9,"owner":2,"order":1}]"#),
        ])
        #expect(offers.contains(#"{"name":"owner","to":"Owner""#), "\(offers)")
        #expect(offers.contains(#"{"name":"order","type":"integer""#), "\(offers)")
    }

    @Test func `a path that ends with a dull word is named by the word before`() throws {
        let offer = try sampled(at: [("/say/collections/places/items", #"[{"id":1},{"id":2}]"#)])
        #expect(offer.contains(#""name":"Place""#), "\(offer)")
    }

    @Test func `a sample without objects is described truthfully`() throws {
        let error = try bridgeError { _ = try sampled("[null,null]") }
        #expect(error.message == "the sample holds an array whose elements are not objects")
        #expect(error.remedy != nil)
    }
}
