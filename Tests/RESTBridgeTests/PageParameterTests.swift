import BridgeJSON
import BridgeKit
import BridgePaging
import TestSupport
import Testing

/// What a request for a page says, for a bridge that builds its requests itself.
@Suite struct PageParameterTests {
    private func parameters(
        _ paging: Literal, at position: PagePosition, bodyPrefix: [String]? = nil
    ) throws -> [String] {
        try PagingRule(paging.options, pageSize: 50, bodyPrefix: bodyPrefix).parameters(at: position).map {
            switch $0.place {
            case .query(let name): "\(name)=\($0.value.plainText ?? $0.value.json)"
            case .header(let name): "\(name): \($0.value.plainText ?? $0.value.json)"
            case .body(let names): "\(names.joined(separator: "."))=\($0.value.json)"
            case .path(let name): "{\(name)}=\($0.value.plainText ?? $0.value.json)"
            }
        }
    }

    @Test func `a page has its position and the number of records at the places of the rule`() throws {
        let numbered: Literal = ["style": "page", "page_parameter": "p", "size_parameter": "per_page"]
        #expect(try parameters(numbered, at: .page(3)) == ["p=3", "per_page=50"])
        #expect(try parameters(["style": "offset", "in": "header"], at: .offset(100)) == ["offset: 100", "limit: 50"])
        let unsized: Literal = ["style": "offset", "limit_parameter": ""]
        #expect(try parameters(unsized, at: .offset(100)) == ["offset=100"])
        #expect(try PagingRule(unsized.options, pageSize: 50).size == nil)
        #expect(
            try parameters(["style": "page", "in": "path", "template": "p{value}"], at: .page(2)) == ["{page}=p2"])
        let cursor: Literal = ["style": "cursor", "path": "$.next", "size_parameter": "limit", "size": 7]
        #expect(try parameters(cursor, at: .only) == ["limit=7"])
        #expect(try parameters(cursor, at: .cursor("a b")) == ["cursor=a b", "limit=7"])
    }

    @Test func `a page of a body may be any value`() throws {
        let paging: Literal = [
            "style": "cursor", "path": "$.next", "parameter": "page.after", "size_parameter": "page.size", "size": 7,
        ]
        #expect(
            try parameters(paging, at: .json(#"{"id":[1,"a"]}"#), bodyPrefix: [])
                == [#"page.after={"id":[1,"a"]}"#, "page.size=7"])
        for number in ["12345678901234567890", "-1e3", "1.50"] {
            #expect(
                try parameters(paging, at: .json(number), bodyPrefix: []) == ["page.after=\(number)", "page.size=7"])
        }
    }

    @Test func `a URL says everything itself, and a reply's members have their own names`() throws {
        #expect(try parameters(["style": "link_header"], at: .url("https://example.com/?page=2")).isEmpty)
        #expect(
            try parameters(["style": "continue"], at: .cursor("from=a%20b&to=c+d&flag"))
                == ["from=a b", "to=c d", "flag="])
    }

    @Test func `a page at another path has its cursor alone`() throws {
        let paging: Literal = [
            "style": "cursor", "path": "$.next", "size_parameter": "limit", "size": 7, "next_path": "/continue",
        ]
        #expect(try parameters(paging, at: .only) == ["limit=7"])
        #expect(try parameters(paging, at: .cursor("a")) == ["cursor=a"])
    }
}
