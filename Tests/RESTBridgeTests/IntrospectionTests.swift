import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// The records that discover makes of an OpenAPI document, as JSON by name; the bridge's own has none.
///
/// - Parameter options: Further options of the bridge.
func discover(_ document: String, options: Literal.Members = []) throws -> [String: String] {
    let own: Literal.Members = [("url", "http://127.0.0.1:1"), ("introspect", ["openapi": .text(document)])]
    let bridge = try bridge(.object(own + options))
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

    // MARK: Paging

    /// A parameter of the query, as JSON.
    private func parameter(_ name: String, _ schema: String = #"{"type": "integer"}"#, more: String = "") -> String {
        #"{"name": "\#(name)", "in": "query", "schema": \#(schema)\#(more)}"#
    }

    @Test(arguments: ["$top", "top"])
    func `a limit of the whole listing is not sent beside a link to the next page`(name: String) throws {
        let reply = #"{"properties": {"@odata.nextLink": {"type": "string"}, "value": \#(Self.pets)}}"#
        let pet = try #require(try discover(document(reply: reply, parameters: "[\(parameter(name))]"))["Pet"])
        #expect(pet.contains(#""style":"next_url""#) && !pet.contains(#""query""#), "\(pet)")
    }

    @Test(arguments: [("total", true), ("total_count", true), ("totalResults", true), ("count", false)])
    func `numbered pages end by a total whose name is clear alone`(name: String, isTotal: Bool) throws {
        let reply = #"{"properties": {"items": \#(Self.pets), "\#(name)": {"type": "integer"}}}"#
        for parameters in [["page", "per_page"], ["offset", "limit"]] {
            let text = "[\(parameters.map { parameter($0) }.joined(separator: ", "))]"
            let pet = try #require(try discover(document(reply: reply, parameters: text))["Pet"])
            #expect(pet.contains(#""total":"$.\#(name)""#) == isTotal, "\(pet)")
        }
    }

    @Test(arguments: [
        ("start", #"{"type": "integer", "minimum": 1}"#, "n", true),
        ("offset", #"{"type": "integer", "default": 1}"#, "n", true),
        ("offset", #"{"type": "integer", "default": 0, "minimum": 0}"#, "n", false),
        ("startIndex", #"{"type": "integer"}"#, "totalResults", true),
        ("startIndex", #"{"type": "integer"}"#, "n", false),
        ("startIndex", #"{"type": "integer", "minimum": 0}"#, "totalResults", false),
    ])
    func `an offset that counts from one starts there`(
        name: String, schema: String, member: String, isOne: Bool
    ) throws {
        let reply = #"{"properties": {"items": \#(Self.pets), "\#(member)": {"type": "integer"}}}"#
        let text = "[\(parameter(name, schema)), \(parameter("limit"))]"
        let pet = try #require(try discover(document(reply: reply, parameters: text))["Pet"])
        #expect(pet.contains(#""offset_parameter":"\#(name)""#), "\(pet)")
        #expect(pet.contains(#""start":1"#) == isOne, "\(pet)")
    }

    // MARK: Keys and Variables

    @Test func `a number that is named like an id or is the variable of a path is an integer and may be the key`()
        throws
    {
        let number = #"{"type": "number"}"#
        let members = #""name": {"type": "string"}, "ownerId": \#(number), "age": \#(number)"#
        let item = #"{"type": "array", "items": {"properties": {"id": \#(number), \#(members)}}}"#
        let pet = try #require(try discover(document(reply: item))["Pet"])
        #expect(pet.contains(#"{"name":"id","type":"integer","key":true"#), "\(pet)")
        #expect(pet.contains(#"{"name":"ownerId","type":"integer","key":false"#), "\(pet)")
        #expect(pet.contains(#"{"name":"age","type":"real","key":false"#), "\(pet)")
        let other = item.replacing(#""id""#, with: #""tag""#)
        let more = #", "/pets/{tag}": {"get": {"responses": {}}}"#
        let tagged = try #require(try discover(document(reply: other, more: more))["Pet"])
        #expect(tagged.contains(#"{"name":"tag","type":"integer","key":true"#), "\(tagged)")
    }

    @Test(
        arguments: [
            ("username", "login", "medium"), ("user_login", "login", "high"), ("userId", "id", "high"),
            ("user", "id", "high"), ("shelf", nil, ""),
        ] as [(String, String?, String)])
    func `a variable is the attribute that it names, or is left to a person`(
        variable: String, attribute: String?, confidence: String
    ) throws {
        let text = #"{"type": "string"}"#
        let members = #""id": {"type": "integer"}, "login": \#(text), "name": \#(text)"#
        let repos = #"{"type": "array", "items": {"title": "Repo", "properties": {"id": {"type": "integer"}}}}"#
        let more = """
            , "/users/{\(variable)}": {"patch": {"responses": {}}}, "/users/{\(variable)}/repos": {"get": {"responses":
              {"200": {"content": {"application/json": {"schema": \(repos)}}}}}}
            """
        let reply = #"{"type": "array", "items": {"title": "User", "type": "object", "properties": {\#(members)}}}"#
        let offers = try discover(document(reply: reply, path: "/users", more: more))
        let user = try #require(offers["User"])
        let repo = try #require(offers["Repo"])
        if let attribute {
            #expect(repo.contains(#""path":"/users/{parent.\#(attribute)}/repos""#), "\(repo)")
            #expect(repo.contains(#""from":"user","confidence":"\#(confidence)""#), "\(repo)")
            let update = attribute == "id" ? #""update":{}"# : #""update":{"path":"/users/{object.\#(attribute)}"}"#
            #expect(user.contains(update), "\(user)")
        } else {
            #expect(repo.contains("its path needs a value for shelf, and no attribute of User is named so"), "\(repo)")
            #expect(user.contains("not proposed: PATCH /users/{shelf}: no attribute is its variable"), "\(user)")
            #expect(!user.contains(#""name":"write""#), "\(user)")
        }
    }

    @Test func `a schema within itself that is made of parts becomes a relationship to itself`() throws {
        let node = ##"{"properties": {"id": {"type": "integer"}, "parent": {"$ref": "#/components/schemas/Node"}}}"##
        let text = document(reply: ##"{"type": "array", "items": {"$ref": "#/components/schemas/Node"}}"##)
            .replacing(#""schemas": {"#, with: #""schemas": {"Node": {"allOf": [\#(node)]}, "#)
        let found = try #require(try discover(text)["Node"])
        #expect(found.contains(#"{"name":"parent","to":"Node","from":"parent""#), "\(found)")
    }

    // MARK: Parameters

    private func header(_ name: String, _ schema: String = #"{"type": "string"}"#, more: String = "") -> String {
        #"{"name": "\#(name)", "in": "header", "required": true, "schema": \#(schema)\#(more)}"#
    }

    @Test func `a header field that requests must have is written with the document's value`() throws {
        let named = header("Notion-Version", #"{"type": "string", "enum": ["2022-06-28"]}"#)
        for fields in [named, header("Notion-Version", more: #", "example": "2022-06-28""#)] {
            let parameters = "[\(fields), \(header("Authorization")), \(header("Accept"))]"
            let pet = try #require(try discover(document(reply: Self.pets, parameters: parameters))["Pet"])
            #expect(pet.contains(#""path":"/pets","headers":{"Notion-Version":"2022-06-28"}"#), "\(pet)")
            #expect(!pet.contains("obstacle"), "\(pet)")
        }
    }

    @Test func `a header field without a value, and one of a credential, are left to a person`() throws {
        let secret = header("X-Auth-Token", more: #", "example": "abc""#)
        let text = document(reply: Self.pets, parameters: "[\(header("X-Tenant-Id")), \(secret)]")
        let pet = try #require(try discover(text)["Pet"])
        let names = "the header field X-Tenant-Id, the header field X-Auth-Token"
        #expect(pet.contains("the request needs \(names): set it under headers") && !pet.contains("abc"), "\(pet)")
        let fields: Literal = ["X-Tenant-Id": "7", "x-auth-token": "t"]
        let given = try #require(try discover(text, options: [("headers", fields)])["Pet"])
        #expect(!given.contains("obstacle"), "\(given)")
    }

    @Test func `a text that is named like paging and that requests must have is not left out`() throws {
        let from = parameter("from", #"{"type": "string"}"#, more: #", "required": true"#)
        let pet = try #require(try discover(document(reply: Self.pets, parameters: "[\(from)]"))["Pet"])
        #expect(pet.contains("the request needs values for from") && !pet.contains("offset_parameter"), "\(pet)")
        let page = parameter("page", #"{"type": "integer", "default": 1}"#, more: #", "required": true"#)
        let reply = #"{"properties": {"next": {"type": "string", "format": "uri"}, "items": \#(Self.pets)}}"#
        let linked = try #require(try discover(document(reply: reply, parameters: "[\(page)]"))["Pet"])
        #expect(linked.contains(#""query":{"page":1},"paging":{"style":"next_url""#), "\(linked)")
    }

    @Test(arguments: [
        ("", #"["id","name"]"#), (#", "explode": false"#, #""id,name""#),
        (#", "style": "pipeDelimited""#, #""id|name""#),
        (#", "style": "spaceDelimited", "explode": false"#, #""id name""#),
    ])
    func `the elements of an array are sent as its style says`(more: String, expected: String) throws {
        let schema = #"{"type": "array", "items": {"type": "string"}, "default": ["id", "name"]}"#
        let fields = parameter("fields", schema, more: #", "required": true"# + more)
        let pet = try #require(try discover(document(reply: Self.pets, parameters: "[\(fields)]"))["Pet"])
        #expect(pet.contains(#""query":{"fields":\#(expected)}"#), "\(pet)")
    }

    @Test func `a number in place of a text keeps its digits`() throws {
        let version = parameter("v", #"{"type": "string"}"#, more: #", "required": true, "example": 1.10"#)
        let pet = try #require(try discover(document(reply: Self.pets, parameters: "[\(version)]"))["Pet"])
        #expect(pet.contains(#""query":{"v":"1.10"}"#), "\(pet)")
    }

    @Test func `a document that lists nothing is reported as such`() throws {
        let error = try bridgeError { _ = try discover(document(reply: #"{"type": "string"}"#)) }
        #expect(error.code == .notFound)
        #expect(error.remedy?.contains("--sample") == true)
    }
}
