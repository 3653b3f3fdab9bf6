import BridgeKit
import RESTBridge
import TestSupport
import Testing
import TestLiterals

/// What discover makes of searches by POST, of servers, security and links in documents.
struct OpenAPIOperationTests {
    /// A document with paths in JSON.
    private func document(_ paths: String, more: String = "") -> String {
        """
        {"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://h/v1"}], "paths": {\(paths)},
         "components": {"schemas": {
           "Pet": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "slug": {"type": "string"}}},
           "Page": {"type": "object", "properties": {"page": {"type": "integer"}, "size": {"type": "integer", "maximum": 50}}}}\(more)}}
        """
    }

    /// A response with a list of a schema's objects.
    private func list(_ schema: String, more: String = "") -> String {
        """
        "responses": {"200": {"content": {"application/json": {"schema": {"type": "object",
          "properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/\(schema)"}}\(more)}}}}}}
        """
    }

    /// A POST with a body, whose reply lists pets.
    private func search(_ body: String, path: String = "/pets/search", reply: String = "") -> String {
        """
        "\(path)": {"post": {"requestBody": {"content": {"application/json": {"schema": \(body)}}}, \(list("Pet", more: reply))}}
        """
    }

    @Test func `a search by POST whose body has the page is a listing`() throws {
        let body = """
            {"type": "object", "required": ["filter", "kind"], "properties": {"filter": {"type": "object"},
              "kind": {"type": "string", "enum": ["cat", "dog"]}, "offset": {"type": "integer"}, "limit": {"type": "integer", "maximum": 200}}}
            """
        let pet = try #require(try discover(document(search(body)))["Pet"])
        #expect(
            pet.contains(
                #""path":"/pets/search","method":"POST","records":"$.items","body":{"filter":{},"kind":"cat"},"#
                    + #""paging":{"style":"offset","offset_parameter":"offset","limit_parameter":"limit","size":200,"in":"body"}"#
            ), "\(pet)")
        #expect(pet.contains("the request must have filter, kind"), "\(pet)")
        #expect(!pet.contains(#""name":"write""#), "a search creates nothing: \(pet)")
    }

    @Test func `the page may be inside an object of the body, and its cursor in the reply`() throws {
        let inner = ##"{"allOf": [{"properties": {"pagination": {"$ref": "#/components/schemas/Page"}}}]}"##
        let pet = try #require(try discover(document(search(inner)))["Pet"])
        #expect(
            pet.contains(
                #""page_parameter":"pagination.page","size_parameter":"pagination.size","size":50,"in":"body""#),
            "\(pet)")
        let cursor = #"{"properties": {"cursor": {"type": "string"}, "limit": {"type": "integer"}}}"#
        let next = try #require(
            try discover(document(search(cursor, reply: #", "next_cursor": {"type": "string"}"#)))["Pet"])
        #expect(
            next.contains(
                #""body":{"limit":100},"paging":{"style":"cursor","path":"$.next_cursor","parameter":"cursor","in":"body"}"#
            ),
            "\(next)")
    }

    @Test func `an allOf of many parts has the members of all, and a long chain of them ends`() throws {
        let parts = (0..<300).map { ##"{"properties": {"part\##($0)": {"type": "string"}}}"## }
        let chain = (0..<3000).map {
            ##""S\##($0)": {"allOf": [{"$ref": "#/components/schemas/S\##($0 + 1)"}]}"##
        }
        let pet = try #require(
            try discover(
                ##"""
                {"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://h/v1"}],
                 "paths": {"/pets": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {
                   "type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}}}}}},
                 "components": {"schemas": {"Pet": {"type": "object", "properties": {"id": {"type": "integer"}},
                   "allOf": [\##(parts.joined(separator: ", ")), {"$ref": "#/components/schemas/S0"}]},
                   \##(chain.joined(separator: ", "))}}}
                """##)["Pet"])
        for part in ["part0", "part150", "part299"] { #expect(pet.contains("\"\(part)\""), "\(part)") }
    }

    @Test func `a POST without pages, or of something created, is not a listing, and a GET comes first`() throws {
        let plain = #"{"properties": {"name": {"type": "string"}}}"#
        #expect(try bridgeError { _ = try discover(document(search(plain, path: "/pets"))) }.code == .notFound)
        let paged = #"{"properties": {"page": {"type": "integer"}}}"#
        let created = search(paged).replacing(#""200""#, with: #""201""#)
        #expect(try bridgeError { _ = try discover(document(created)) }.code == .notFound)
        let costly = search(paged).replacing(
            #""post": {"#, with: #""post": {"summary": "Generates pictures of pets", "#)
        #expect(try bridgeError { _ = try discover(document(costly)) }.code == .notFound)
        let both = try discover(document(search(paged) + ", \"/pets\": {\"get\": {\(list("Pet"))}}"))
        #expect(both["Pet"]?.contains(#""path":"/pets""#) == true, "\(both)")
        #expect(both[""]?.contains("Pet: also listed by POST /pets/search") == true, "\(both)")
    }

    @Test func `a value that the body needs and the document lacks is left to the person`() throws {
        let body =
            #"{"required": ["tenant"], "properties": {"tenant": {"type": "string"}, "page": {"type": "integer"}}}"#
        let pet = try #require(try discover(document(search(body)))["Pet"])
        #expect(pet.contains("the request needs values for tenant: set them under body"), "\(pet)")
    }

    @Test func `the members of an object in the query are parameters of their own`() throws {
        func pet(_ schema: String, _ more: String = "") throws -> String {
            let parameter = #"{"name": "pageable", "in": "query", "required": true\#(more), "schema": \#(schema)}"#
            let offers = try discover(document(#""/pets": {"get": {"parameters": [\#(parameter)], \#(list("Pet"))}}"#))
            return try #require(offers["Pet"])
        }
        let page = ##"{"$ref": "#/components/schemas/Page"}"##
        for schema in [page, #"{"allOf": [\#(page)]}"#] {
            let spring = try pet(schema)
            #expect(spring.contains(#""page_parameter":"page","size_parameter":"size","size":50"#), "\(spring)")
            #expect(!spring.contains("the request needs values"), "\(spring)")
        }
        for more in [#", "explode": false"#, #", "style": "deepObject""#] {
            let other = try pet(page, more)
            #expect(other.contains("the request needs values for pageable: set them under query"), "\(other)")
        }
        let tenant =
            #"{"required": ["tenant"], "properties": {"tenant": {"type": "string"}, "page": {"type": "integer"}}}"#
        let needy = try pet(tenant)
        #expect(needy.contains("the request needs values for tenant: set them under query"), "\(needy)")
    }

    @Test func `a list of certain objects replaces that of a general page`() throws {
        let general = #"{"type": "object", "properties": {"items": {"type": "array", "items": {"type": "array"}}}}"#
        let certain =
            ##"{"properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}"##
        for parts in [[general, certain], [certain, general]] {
            let reply = #"{"allOf": [\#(parts.joined(separator: ","))]}"#
            let offers = try discover(
                document(
                    #"""
                    "/pets": {"get": {"responses": {"200": {"content": {"application/json": {"schema": \#(reply)}}}}}}
                    """#))
            let pet = try #require(offers["Pet"])
            #expect(pet.contains(#""path":"/pets","records":"$.items""#), "\(pet)")
        }
    }

    @Test func `two schemes that are required together become auth and a header field`() throws {
        let more = """
            , "securitySchemes": {"app": {"type": "apiKey", "in": "header", "name": "X-App-Id"},
              "key": {"type": "apiKey", "in": "header", "name": "X-App-Key"}, "token": {"type": "http", "scheme": "bearer"}}
            """
        let other = "\"/toys\": {\"get\": {\"security\": [{\"token\": []}], \(list("Page"))}}"
        let paths = "\"/pets\": {\"get\": {\"security\": [{\"key\": [], \"app\": []}], \(list("Pet"))}}"
        let offers = try discover(document(paths, more: more))
        let options = try #require(offers[""])
        #expect(
            options.contains(
                #""auth":{"type":"api_key","value":{"env":"T_KEY"},"header":"X-App-Key"},"headers":{"X-App-Id":{"env":"T_X_APP_ID"}}"#
            ), "\(options)")
        let both = try discover(
            document(paths + ", " + other.replacing("schemas/Page", with: "schemas/Pet"), more: more)
                .replacing(#""/toys""#, with: #""/pets/old""#))
        #expect(both["Pet"]?.contains("it requires the security scheme") == false, "\(both)")
        let named = #"{"type": "object", "title": "Toy", "properties": {"id": {"type": "integer"}}}"#
        let apart = try discover(
            document(
                paths + ", "
                    + other.replacing(##"{"$ref": "#/components/schemas/Page"}"##, with: named), more: more))
        let toy = try #require(apart["Toy"])
        #expect(toy.contains(#""part":"token""#), "\(toy)")
        #expect(
            apart["token"]?.contains(
                #""options":{"url":"https://h/v1","auth":{"type":"bearer","token":{"env":"T_TOKEN_TOKEN"}}}"#) == true,
            "\(apart)")
    }

    @Test func `parts of an API with the same name keep their credentials apart`() throws {
        let more = """
            , "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"},
              "public": {"type": "http", "scheme": "bearer"}, "a_b": {"type": "http", "scheme": "bearer"},
              "a.b": {"type": "http", "scheme": "basic"}, "odd": {"type": "mutualTLS"}}
            """
        let paths =
            [("pets", "[{\"key\": []}]"), ("toys", "[]"), ("games", "[{\"public\": []}]")]
            + [("books", "[{\"a_b\": []}]"), ("films", "[{\"a.b\": []}]"), ("songs", "[{\"odd\": []}]")]
        let named = paths.map { name, security in
            let item = #"{"type": "object", "title": "\#(name)", "properties": {"id": {"type": "integer"}}}"#
            return #""/\#(name)": {"get": {"security": \#(security), "#
                + list("Pet").replacing(##"{"$ref": "#/components/schemas/Pet"}"##, with: item) + "}}"
        }
        let offers = try discover(
            document(named.joined(separator: ", "), more: more).replacing(
                #""paths":"#, with: #""security": [{"key": []}], "paths":"#))
        #expect(offers["public"]?.contains("auth\":") == false && offers["Toys"]?.contains(#""part":"public""#) == true)
        #expect(offers["Games"]?.contains(#""part":"public-2""#) == true, "\(offers)")
        #expect(offers["public-2"]?.contains(#""token":{"env":"T_PUBLIC_2_TOKEN"}"#) == true, "\(offers)")
        #expect(offers["a-b"]?.contains(#"{"type":"bearer","token":{"env":"T_A_B_TOKEN"}}"#) == true, "\(offers)")
        #expect(offers["a-b-2"]?.contains(#""user":{"env":"T_A_B_2_USER"}"#) == true, "\(offers)")
        #expect(offers["Songs"]?.contains("it requires the security scheme odd") == true, "\(offers)")
    }

    @Test func `the variables of a server are named with their values, and servers of operations are honoured`() throws
    {
        let toy = #"{"type": "object", "title": "Toy", "properties": {"id": {"type": "integer"}}}"#
        let own = """
            "/toys": {"servers": [{"url": "https://eu.h/v1/shop"}], "get": {\(list("Toy").replacing(##"{"$ref": "#/components/schemas/Toy"}"##, with: toy))}}
            """
        let away = own.replacing("https://eu.h/v1/shop", with: "https://files.h").replacing("toys", with: "games")
            .replacing("Toy", with: "Game")
        let text = document("\"/pets\": {\"get\": {\(list("Pet"))}}, \(own), \(away)")
            .replacing(
                #"{"url": "https://h/v1"}"#,
                with:
                    #"{"url": "https://{region}.h/v1", "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}}}"#
            )
        let offers = try discover(text)
        #expect(offers[""]?.contains(#""url":"https://eu.h/v1""#) == true, "\(offers)")
        #expect(offers[""]?.contains("the server's address has the variable region (eu, us)") == true, "\(offers)")
        #expect(offers["Toy"]?.contains(#""path":"/shop/toys""#) == true, "\(offers)")
        #expect(offers["Game"]?.contains("it is at another server, https://files.h") == true, "\(offers)")
    }

    @Test func `a link leads from the objects of one listing to another`() throws {
        let one =
            ##"{"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}, "##
            + ##""links": {"toys": {"operationId": "toys", "parameters": {"owner": "$response.body#/slug"}}}}"##
        let toy = #"{"type": "object", "title": "Toy", "properties": {"id": {"type": "integer"}}}"#
        let toys = list("Toy").replacing(##"{"$ref": "#/components/schemas/Toy"}"##, with: toy)
        let offers = try discover(
            document(
                """
                "/pets": {"get": {\(list("Pet"))}}, "/pets/{id}": {"get": {"responses": {"200": \(one)}}},
                "/boxes/{owner}/toys": {"get": {"operationId": "toys", \(toys)}}
                """))
        let found = try #require(offers["Toy"])
        #expect(found.contains(#""path":"/boxes/{parent.slug}/toys""#), "\(found)")
        #expect(
            found.contains(#""parent":"pet""#) && found.contains("a link of the document leads from Pet"), "\(found)")
    }

    /// A document with one listing of pets in these media types.
    private func listing(
        _ types: String..., schema: String = ##"{"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}"##
    ) -> String {
        let content = types.map { "\"\($0)\": {\"schema\": \(schema)}" }.joined(separator: ", ")
        return document(#""/pets": {"get": {"responses": {"200": {"content": {\#(content)}}}}}"#)
    }

    @Test func `a listing whose only media type is CSV or XML gets its format`() throws {
        let csv = try #require(try discover(listing("text/csv; charset=utf-8", "text/html"))["Pet"])
        #expect(csv.contains(#""path":"/pets","format":"csv"}"#), "\(csv)")
        #expect(!csv.contains("the reply is an array"), "\(csv)")
        let xml = try #require(try discover(listing("application/xml"))["Pet"])
        #expect(xml.contains(#""path":"/pets","format":"xml"}"#), "\(xml)")
        let inner = try #require(
            try discover(
                listing(
                    "text/xml",
                    schema: ##"{"properties": {"next": {"type": "string", "format": "uri"}, "##
                        + ##""pet": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}"##
                ))["Pet"])
        #expect(inner.contains(#""format":"xml","records":"pet"}"#), "\(inner)")
        let both = try #require(try discover(listing("text/csv", "application/json"))["Pet"])
        #expect(both.contains(#""section":{"path":"/pets"}"#), "\(both)")
    }

    @Test func `a listing in a form that the bridge cannot read is left out with a note`() throws {
        let words = "left out, because of the form of their replies: GET /pets"
        let page = try bridgeError { _ = try discover(listing("text/html")) }
        #expect(page.message.hasSuffix("\(words) (text/html)"), "\(page)")
        let schema = ##"{"properties": {"items": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}"##
        let wrapped = try bridgeError { _ = try discover(listing("text/csv", schema: schema)) }
        #expect(wrapped.message.hasSuffix("\(words) (CSV with the records inside an object)"), "\(wrapped)")
    }

    // MARK: What Is Left Out

    @Test func `requests that become no part of an entity are counted and named by their kinds`() throws {
        func get(_ path: String, _ schema: String, type: String = "application/json", code: String = "200") -> String {
            #""\#(path)": {"get": {"responses": {"\#(code)": {"content": {"\#(type)": {"schema": \#(schema)}}}}}}"#
        }
        let pet = ##"{"$ref": "#/components/schemas/Pet"}"##
        let words = #"{"type": "array", "items": {"type": "string"}}"#
        let paths = [
            "\"/pets\": {\"get\": {\(list("Pet"))}, \"post\": {\"responses\": {}}}", get("/pets/{id}", pet),
            #""/pets/{id}.json": {"put": {"responses": {}}}, "/pets({id})": {"patch": {"responses": {}}}"#,
        ]
        let lists = (1...5).map { get("/words\($0)", words) }
        let others = [
            get("/ids", #"{"properties": {"data": \#(words)}}"#),
            get("/free", #"{"type": "array", "items": {"type": "object"}}"#), get("/account", pet),
            get("/events", pet, type: "application/x-ndjson"),
            get("/shops/{country}", #"{"type": "array", "items": \#(pet)}"#), get("/jobs", pet, code: "202"),
            search(#"{"properties": {"name": {"type": "string"}}}"#),
        ]
        let offers = try discover(document((paths + lists + others).joined(separator: ", ")))
        let notes = try #require(offers[""])
        for note in [
            "their replies are lists of plain values: GET /words1, GET /words2, GET /words3, GET /words4 and 2 more",
            "as the document names no members of their objects: GET /free\"",
            "as their replies are one object: GET /account\"", "as their replies are lines of JSON: GET /events\"",
            "as the path of their list ends in a variable: GET /shops/{country}\"",
            "as they only accept a request (202): GET /jobs\"", "as their body has no page: POST /pets/search\"",
            "not proposed under write, by their method or path: PUT /pets/{id}.json, PATCH /pets({id})\"",
        ] { #expect(notes.contains(note), "no \(note) in \(notes)") }
    }

    @Test func `a body that is made of parts without end is given up`() throws {
        let parts = (0..<9).map { level in
            let next = ##"{"$ref": "#/components/schemas/B\##(level + 1)"}"##
            return #""B\#(level)": {"allOf": [\#(Array(repeating: next, count: 12).joined(separator: ","))]}"#
        }
        let text = document(
            search(##"{"$ref": "#/components/schemas/B0"}"##) + ", \"/pets\": {\"get\": {\(list("Pet"))}}"
        ).replacing(#""schemas": {"#, with: #""schemas": {\#(parts.joined(separator: ", ")), "B9": {}, "#)
        #expect(try discover(text)["Pet"]?.contains(#""path":"/pets""#) == true)
    }

    // MARK: Writes

    /// The offer for pets that a POST with this content creates, and a PATCH with it changes.
    private func written(_ content: String, item: String? = nil) throws -> String {
        let body = #""requestBody": {"content": {\#(content)}}, "responses": {}"#
        let reference = ##"{"$ref": "#/components/schemas/Pet"}"##
        let pets = list("Pet").replacing(reference, with: item ?? reference)
        let paths = """
            "/pets": {"get": {\(pets)}, "post": {\(body)}}, "/pets/{id}": {"patch": {\(body)}, "delete": {"responses": {}}}
            """
        return try #require(try discover(document(paths))["Pet"])
    }

    @Test(arguments: ["multipart/form-data", "application/xml"])
    func `a write whose body is of another form is not proposed`(type: String) throws {
        let pet = try written(##""\##(type)": {"schema": {"$ref": "#/components/schemas/Pet"}}"##)
        #expect(pet.contains("not proposed: POST /pets: its body is \(type)"), "\(pet)")
        #expect(pet.contains("not proposed: PATCH /pets/{id}: its body is \(type)"), "\(pet)")
        #expect(pet.contains(#""name":"write","of_section":true,"value":{"delete":{}}"#), "\(pet)")
    }

    @Test func `fields of a form in Swagger 2 are sent as a form`() throws {
        func pet(_ consumes: String, type: String = "string") throws -> String {
            let field = #"{"name": "name", "in": "formData", "type": "\#(type)"}"#
            let item = #"{"type": "object", "title": "Pet", "properties": {"id": {"type": "integer"}}}"#
            let text = """
                {"swagger": "2.0", "info": {"title": "T"}, "host": "h", "paths": {"/pets": {
                  "get": {"responses": {"200": {"schema": {"type": "array", "items": \(item)}}}},
                  "post": {"consumes": ["\(consumes)"], "parameters": [\(field)], "responses": {}}}}}
                """
            return try #require(try discover(text)["Pet"])
        }
        #expect(try pet("application/x-www-form-urlencoded").contains(#""create":{"format":"form"}"#))
        #expect(try pet("multipart/form-data").contains("not proposed: POST /pets: its body is multipart/form-data"))
        #expect(try pet("application/json", type: "file").contains("its body is multipart/form-data"))
    }

    @Test func `the object may be in a member of the body, and what records lack is named`() throws {
        let inner = #"{"type": "object", "properties": {"name": {"type": "string"}, "owner_id": {"type": "integer"}}}"#
        let body = #"{"properties": {"pet": \#(inner), "notify": {"type": "boolean"}}}"#
        let pet = try written(#""application/json": {"schema": \#(body)}"#)
        #expect(pet.contains(#""value":{"create":{"wrap":"pet"},"update":{"wrap":"pet"},"delete":{}}"#), "\(pet)")
        #expect(pet.contains("POST /pets (its body has owner_id, which records lack)"), "\(pet)")
        let strict = body.replacing(#"{"properties": {"pet""#, with: #"{"required": ["notify"], "properties": {"pet""#)
        let needy = try written(#""application/json": {"schema": \#(strict)}"#)
        #expect(needy.contains("not proposed: POST /pets: its body needs notify beside pet"), "\(needy)")
    }

    @Test func `a member that is only read is not written`() throws {
        let item = """
            {"title": "Pet", "type": "object", "properties": {"id": {"type": "integer", "readOnly": true},
              "name": {"type": "string"}, "home": {"readOnly": true, "properties": {"city": {"type": "string"}}}}}
            """
        let pet = try written(#""application/json": {"schema": \#(item)}"#, item: item)
        #expect(pet.contains(#""name":"id","type":"integer","key":true,"as":"id","read_only":true"#), "\(pet)")
        #expect(pet.contains(#""key":false,"as":"home_city","read_only":true"#), "\(pet)")
        #expect(pet.contains(#""name":"name","type":"text","key":false,"as":"name","confidence""#), "\(pet)")
    }

    @Test func `a write needs header fields of its own`() throws {
        let field = #"{"name": "X-Reason", "in": "header", "required": true, "schema": {"type": "string"}}"#
        let known = field.replacing(#""string""#, with: #""string", "default": "bmo""#)
        func pet(_ field: String) throws -> String {
            let post = #""post": {"parameters": [\#(field)], "responses": {}}"#
            return try #require(try discover(document(#""/pets": {"get": {\#(list("Pet"))}, \#(post)}"#))["Pet"])
        }
        #expect(try pet(known).contains(#""create":{"headers":{"X-Reason":"bmo"}}"#))
        #expect(try pet(field).contains("POST /pets (needs the header field X-Reason)"))
    }

    @Test func `resources of JSON:API are read and written as such`() throws {
        let type = "application/vnd.api+json"
        func identifier(_ type: String) -> String {
            #""type": {"type": "string", "enum": ["\#(type)"]}, "id": {"type": "string"}"#
        }
        func resource(_ name: String, _ more: String = "") -> String {
            let attributes = #""attributes": {"type": "object", "properties": {"title": {"type": "string"}}}"#
            let members = #"\#(identifier(name)), \#(attributes)\#(more)"#
            return #"{"title": "\#(name)", "type": "object", "properties": {\#(members)}}"#
        }
        let author = #"{"properties": {"data": {"type": "object", "properties": {\#(identifier("people"))}}}}"#
        let related = #", "relationships": {"type": "object", "properties": {"author": \#(author)}}"#
        func list(_ item: String) -> String {
            let reply = #"{"properties": {"data": {"type": "array", "items": \#(item)}}}"#
            return #""responses": {"200": {"content": {"\#(type)": {"schema": \#(reply)}}}}"#
        }
        let article = resource("articles", related)
        let body = #""requestBody": {"content": {"\#(type)": {"schema": {"properties": {"data": \#(article)}}}}}"#
        let offers = try discover(
            document(
                """
                "/articles": {"get": {\(list(article))}, "post": {\(body), "responses": {}}},
                "/articles/{id}": {"patch": {\(body), "responses": {}}}, "/people": {"get": {\(list(resource("people")))}}
                """))
        let found = try #require(offers["Articles"])
        #expect(found.contains(#""section":{"path":"/articles","preset":"json_api"}"#), "\(found)")
        #expect(found.contains(#""name":"title","type":"text""#), "\(found)")
        #expect(found.contains(#"{"name":"author","to":"People","from":"author""#), "\(found)")
        #expect(found.contains(#""value":{"type":"articles","create":{},"update":{}}"#), "\(found)")
    }
}
