import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// The records that discover makes of an OpenAPI document, as JSON by name; the bridge's own has none.
func discover(_ document: String) throws -> [String: String] {
    let bridge = try bridge(["url": "http://127.0.0.1:1", "introspect": ["openapi": .text(document)]])
    let writer = RecordBatchWriter()
    try bridge.discover(into: writer)
    let batch = try writer.finish()
    return Dictionary(
        uniqueKeysWithValues: (0..<batch.count).map {
            ((batch[$0]["name"] ?? batch[$0]["part"])?.text ?? "", batch[$0].json)
        })
}

/// What discover makes of documents.
struct IntrospectionTests {
    /// A document with one listing, whose reply and parameters are given.
    private func document(reply: String, parameters: String = "[]", path: String = "/pets", more: String = "") -> String
    {
        """
        {"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://h/v1"}], "paths": {"\(path)": {"get": {
          "parameters": \(parameters), "responses": {"200": {"content": {"application/json": {"schema": \(reply)}}}}}}\(more)},
         "components": {"schemas": {
           "Pet": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": ["string", "null"]}}},
           "Tree": {"type": "object", "properties": {"id": {"type": "integer"}, "parent": {"$ref": "#/components/schemas/Tree"},
             "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}}}}
        """
    }

    private static let pets = ##"{"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}"##

    @Test(arguments: [
        (#"{"properties": {"data": P, "total": {"type": "integer"}}}"#, "$.data"),
        (
            #"{"properties": {"errors": {"type": "array", "items": {"properties": {"code": {"type": "string"}}}}, "pets": P}}"#,
            "$.pets"
        ),
        (#"{"allOf": [{"properties": {"page": {"type": "integer"}}}, {"properties": {"results": P}}]}"#, "$.results"),
        (#"{"properties": {"_embedded": {"type": "object", "properties": {"pets": P}}}}"#, "$._embedded.pets"),
        (#"{"properties": {"data": {"type": "object", "properties": {"items": P}}}}"#, "$.data.items"),
        (#"{"properties": {"odd name": P}}"#, "$['odd name']"),
        (##"{"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Pet"}}"##, "$.*"),
    ])
    func `a list is found in its envelope`(reply: String, records: String) throws {
        let offers = try discover(document(reply: reply.replacing(": P", with: ": \(Self.pets)")))
        let pet = try #require(offers["Pet"])
        #expect(pet.contains("\"records\":\"\(records)\""), "\(pet)")
    }

    @Test(arguments: [
        ("page,per_page", "{}", #""style":"page","page_parameter":"page","size_parameter":"per_page","size":100"#),
        ("offset,limit", "{}", #""style":"offset","offset_parameter":"offset","limit_parameter":"limit","size":100"#),
        (
            "cursor,limit", #"{"next_cursor": {"type": "string"}}"#,
            #""style":"cursor","path":"$.next_cursor","parameter":"cursor""#
        ),
        (
            "pageToken", #"{"nextPageToken": {"type": "string"}}"#,
            #""style":"cursor","path":"$.nextPageToken","parameter":"pageToken""#
        ),
        ("limit", #"{"next": {"type": "string", "format": "uri"}}"#, #""style":"next_url","path":"$.next""#),
        (
            "", #"{"links": {"type": "object", "properties": {"next": {"type": "string", "format": "uri"}}}}"#,
            #""path":"$.links.next""#
        ),
    ])
    func `paging follows from parameters and the envelope`(names: String, beside: String, expected: String) throws {
        let parameters = names.split(separator: ",").map {
            #"{"name": "\#($0)", "in": "query", "schema": {"type": "integer"}}"#
        }.joined(separator: ",")
        let reply =
            #"{"type": "object", "properties": {"items": \#(Self.pets), "#
            + (beside == "{}" ? #""total": {"type": "integer"}"# : String(beside.dropFirst().dropLast())) + "}}"
        let pet = try #require(try discover(document(reply: reply, parameters: "[\(parameters)]"))["Pet"])
        #expect(pet.contains(expected), "\(pet)")
    }

    @Test func `a schema within itself becomes a relationship to itself`() throws {
        let offers = try discover(
            document(reply: ##"{"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}"##, path: "/trees"))
        let tree = try #require(offers["Tree"])
        #expect(tree.contains(#"{"name":"parent","to":"Tree","from":"parent""#), "\(tree)")
        #expect(tree.contains(#"{"name":"children","many":"Tree","from":"children""#), "\(tree)")
    }

    @Test func `a required parameter without a value is left to a person`() throws {
        let pet = try #require(
            try discover(
                document(
                    reply: Self.pets,
                    parameters: #"[{"name": "owner", "in": "query", "required": true, "schema": {"type": "string"}}]"#))[
                    "Pet"])
        #expect(pet.contains(#""obstacle":"the request needs values for owner"#))
    }

    @Test func `a path with a variable becomes a scan per object of what is listed before it`() throws {
        let more = #"""
            , "/pets/{petId}/visits": {"get": {"responses": {"200": {"content": {"application/json": {"schema":
              {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}}}}}}}
            """#
        let visit = try #require(try discover(document(reply: Self.pets, more: more))["Visit"])
        #expect(visit.contains(#""path":"/pets/{parent.id}/visits""#), "\(visit)")
        #expect(visit.contains(#""parent":"pet""#))
        #expect(!visit.contains("obstacle"))
    }

    @Test func `operations on one object are proposed as writes`() throws {
        let more = #"""
            , "/pets/{name}": {"put": {"responses": {}}, "delete": {"responses": {}}}
            """#
        let pet = try #require(try discover(document(reply: Self.pets, more: more))["Pet"])
        #expect(
            pet.contains(
                #""update":{"method":"PUT","path":"/pets/{object.name}"},"delete":{"path":"/pets/{object.name}"}"#),
            "\(pet)")
    }

    @Test func `the path of one object keeps its own slash, whatever the listing's has`() throws {
        let more = #"""
            , "/pets/{id}": {"put": {"responses": {}}, "delete": {"responses": {}}}
            """#
        let bare = try #require(try discover(document(reply: Self.pets, path: "/pets/", more: more))["Pet"])
        #expect(
            bare.contains(#""update":{"method":"PUT","path":"/pets/{key}"},"delete":{"path":"/pets/{key}"}"#), "\(bare)"
        )
        let both = try #require(
            try discover(document(reply: Self.pets, path: "/pets/", more: more.replacing("{id}", with: "{id}/")))["Pet"]
        )
        #expect(both.contains(#""update":{"method":"PUT"},"delete":{}"#), "\(both)")
    }

    @Test(arguments: [("token", "token"), ("/login/token", "https://h/login/token"), ("https://o/t", "https://o/t")])
    func `a password flow of OAuth 2 becomes the grant, with its address`(address: String, expected: String) throws {
        let document = document(reply: Self.pets).replacing(
            #""components": {"#,
            with:
                #""components": {"securitySchemes": {"o": {"type": "oauth2", "flows": {"password": {"tokenUrl": "\#(address)"}}}}, "#
        )
        let options = try #require(try discover(document)[""])
        #expect(
            options.contains(#""auth":{"type":"oauth2","grant":"password","token_url":"\#(expected)","user":{"env""#),
            "\(options)")
    }

    @Test(arguments: [
        (
            #"{"url": "{scheme}://h/v1", "variables": {"scheme": {"enum": ["https", "http"], "default": "https"}}}"#,
            "https://h/v1"
        ),
        (#"{"url": "https://{region}.h", "variables": {"region": {"enum": ["eu", "us"]}}}"#, "https://eu.h"),
    ])
    func `the variables of a server have their defaults, also the one at its beginning`(server: String, url: String)
        throws
    {
        let text = document(reply: Self.pets).replacing(#"{"url": "https://h/v1"}"#, with: server)
        let options = try #require(try discover(text)[""])
        #expect(options.contains("\"url\":\"\(url)\""), "\(options)")
    }

    @Test func `Swagger 2 names its host, its security and its bodies otherwise`() throws {
        let offers = try discover(
            #"""
            {"swagger": "2.0", "info": {"title": "Pet Store"}, "host": "h:8080", "basePath": "/v2/", "schemes": ["http"],
             "securityDefinitions": {"k": {"type": "apiKey", "name": "X-Key", "in": "header"}},
             "paths": {"/pets": {"get": {"responses": {"200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/api.PetDTO"}}}}},
               "post": {"parameters": [{"in": "body", "name": "b", "schema": {"properties": {"pet": {"$ref": "#/definitions/api.PetDTO"}}}}]}}},
             "definitions": {"api.PetDTO": {"properties": {"petId": {"type": "integer"}, "born": {"type": "string", "format": "date"}}}}}
            """#)
        let options = try #require(offers[""])
        #expect(options.contains(#""url":"http://h:8080/v2""#), "\(options)")
        #expect(
            options.contains(#""auth":{"type":"api_key","value":{"env":"PET_STORE_KEY"},"header":"X-Key"}"#),
            "\(options)")
        let pet = try #require(offers["Pet"])
        #expect(pet.contains(#"{"name":"petId","type":"integer","key":true"#), "\(pet)")
        #expect(pet.contains(#""create":{"wrap":"pet"}"#), "\(pet)")
    }

    @Test func `what operations require comes before other schemes, and a browser's session last`() throws {
        let description = #"Token-based authentication with required prefix \"Token\""#
        let offers = try discover(
            """
            {"openapi": "3.0.3", "info": {"title": "T"}, "servers": [{"url": "https://h"}], "paths": {"/pets": {"get": {
              "security": [{"cookieAuth": []}, {"tokenAuth": []}, {"basicAuth": []}],
              "responses": {"200": {"content": {"application/json": {"schema": {"type": "array",
                "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}}}}}}}},
             "components": {"securitySchemes": {
               "basicAuth": {"type": "http", "scheme": "basic"},
               "cookieAuth": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
               "tokenAuth": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "\(description)"}}}}
            """)
        let options = try #require(offers[""])
        #expect(options.contains(#""auth":{"type":"bearer","scheme":"Token","token":{"env":"T_TOKEN"}}"#), "\(options)")
    }

    @Test func `a bare value named like an entity refers to it, where its key is of that type`() throws {
        let items =
            #"{"type": "array", "items": {"type": "object", "title": "Book", "properties": {"id": {"type": "integer"}, "#
            + #""pet": {"type": "integer"}, "pets": {"type": "array", "items": {"type": "integer"}}, "#
            + #""tree": {"type": "string"}}}}"#
        let more = """
            , "/books": {"get": {"responses": {"200": {"content": {"application/json": {"schema": \(items)}}}}}},
            "/trees": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": "array",
            "items": {"$ref": "#/components/schemas/Tree"}}}}}}}}
            """
        let offers = try discover(document(reply: Self.pets, more: more))
        let book = try #require(offers["Book"])
        #expect(book.contains(#"{"name":"pet","to":"Pet","from":"pet","confidence":"medium""#), "\(book)")
        #expect(book.contains(#"{"name":"pets","many":"Pet","from":"pets","confidence":"medium""#), "\(book)")
        #expect(book.contains(#"{"name":"tree","type":"text""#), "a text may be anything: \(book)")
    }

    @Test func `a listing whose reply another file describes is named`() throws {
        let more = #"""
            , "/places/items": {"get": {"responses": {"200": {"$ref": "https://o/features.yaml#/components/responses/Features"}}}}
            """#
        let offers = try discover(document(reply: Self.pets, more: more))
        #expect(
            offers[""]?.contains("not inspected, because other files describe their replies: GET /places/items")
                == true,
            "\(offers)")
    }

    @Test func `a member that is only declared nullable is any value`() throws {
        let item =
            #"{"type": "array", "items": {"properties": {"id": {"type": "integer"}, "any": {"nullable": true}, "word": {"type": "string", "nullable": true}}}}"#
        let offer = try #require(try discover(document(reply: item))["Pet"])
        #expect(offer.contains(#"{"name":"any","type":"json""#), "\(offer)")
        #expect(offer.contains(#"{"name":"word","type":"text""#), "\(offer)")
    }

    @Test func `a short form of a schema refers to it, and what is nested becomes columns`() throws {
        let item = ##"""
            {"type": "array", "items": {"properties": {"id": {"type": "integer"},
              "pet": {"title": "PetSummary", "type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}},
              "place": {"type": "object", "properties": {"geo": {"type": "object", "properties": {"lat": {"type": "number"}}}}}}}}
            """##
        let more =
            #", "/visits": {"get": {"responses": {"200": {"content": {"application/json": {"schema": \#(item)}}}}}}"#
        let offer = try #require(try discover(document(reply: Self.pets, more: more))["Visit"])
        #expect(offer.contains(#"{"name":"pet","to":"Pet","from":"pet""#), "\(offer)")
        #expect(offer.contains(#""name":"place.geo.lat","type":"real""#), "\(offer)")
    }

    @Test(arguments: [
        (#"[{"name": "start", "in": "query", "schema": {"type": "string", "format": "date-time"}}]"#, false),
        (
            #"[{"name": "start", "in": "query", "schema": {"type": "integer"}}, {"name": "end", "in": "query", "schema": {"type": "integer"}}]"#,
            false
        ),
        (
            #"[{"name": "start", "in": "query", "schema": {"type": "integer"}}, {"name": "limit", "in": "query", "schema": {"type": "integer"}}]"#,
            true
        ),
    ])
    func `the beginning of a time window is not an offset`(parameters: String, isOffset: Bool) throws {
        let offer = try #require(try discover(document(reply: Self.pets, parameters: parameters))["Pet"])
        #expect(offer.contains(#""offset_parameter":"start""#) == isOffset, "\(offer)")
    }

    @Test func `a document that lists nothing is reported as such`() throws {
        let error = try bridgeError { _ = try discover(document(reply: #"{"type": "string"}"#)) }
        #expect(error.code == .notFound)
        #expect(error.remedy?.contains("--sample") == true)
    }
}
