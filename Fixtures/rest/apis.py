#!/usr/bin/env python3
"""Small listings that look as the documentation of well-known public APIs shows them, on a free port of 127.0.0.1.

Each has 25 records in pages of at most 10 under the path that its documentation shows. Requests that the real API would
refuse are refused here. Prints the port twice when it is ready, as server.py prints two.
"""
import base64
import hashlib
import hmac
import http.server
import json
import socketserver
import sys
import threading
import urllib.parse

LOG = open(sys.argv[1], "a", buffering=1) if len(sys.argv) > 1 else None
COUNT, SIZE = 25, 10
APIS = {}


def api(path):
    return lambda function: APIS.setdefault(path, function)


class Refused(Exception):
    def __init__(self, status, body):
        self.status, self.body = status, body


class Request:
    def __init__(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        self.path, self.headers, self.method = url.path, handler.headers, handler.command
        self.raw_query = url.query
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.base = f"http://127.0.0.1:{handler.server.server_address[1]}"
        self.body = handler.body

    def number(self, name, default):
        return int(self.query.get(name, default))

    def link(self, **more):
        query = {k: v for k, v in {**self.query, **more}.items() if v is not None}
        return f"{self.base}{self.path}?{urllib.parse.urlencode(query)}"

    def only(self, *names):
        for name in self.query:
            if name not in names:
                raise Refused(400, {"error": {"message": f"unknown parameter {name}"}})


def window(make, start, size=SIZE):
    numbers = range(start + 1, min(start + size, COUNT) + 1)
    return [make(n) for n in numbers], start + size if start + size < COUNT else None


def day(n):
    return f"2024-03-{n:02}T10:00:00Z"


def token(number):
    return base64.urlsafe_b64encode(f"o{number}".encode()).decode().rstrip("=")


def offset(text):
    return int(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))[1:]) if text else 0


@api("/repos/octo/hello/issues")
def github(r):
    size, page = r.number("per_page", SIZE), r.number("page", 1)
    items, after = window(lambda n: {
        "id": 9000000000 + n, "node_id": f"I_{n}", "number": n, "title": f"Issue {n}", "state": "open",
        "user": {"login": "octocat", "id": 1, "type": "User"}, "labels": [{"id": 5, "name": "bug", "color": "f29513"}],
        "assignee": None, "comments": n, "created_at": day(n), "updated_at": day(n), "closed_at": None, "body": "It fails."},
        (page - 1) * size, size)
    links = [f'<{r.link(page=page + 1)}>; rel="next"', f'<{r.link(page=3)}>; rel="last"'] if after else []
    return items, {"Link": ", ".join(links + [f'<{r.link(page=1)}>; rel="first"'])}


@api("/v1/customers")
def stripe(r):
    r.only("limit", "starting_after", "ending_before")
    start = int(r.query.get("starting_after", "cus_0")[4:])
    items, after = window(lambda n: {
        "id": f"cus_{n}", "object": "customer", "balance": 0, "created": 1700000000 + n, "currency": "eur",
        "email": f"u{n}@example.com", "livemode": False, "metadata": {}, "name": f"Customer {n}"},
        start, min(r.number("limit", SIZE), SIZE))
    return {"object": "list", "url": "/v1/customers", "has_more": after is not None, "data": items}


@api("/v1/users")
def notion(r):
    r.only("start_cursor", "page_size")
    items, after = window(lambda n: {
        "object": "user", "id": f"d40e767c-d7af-4b18-a86d-55c61f1e{n:04}", "type": "person", "name": f"User {n}",
        "person": {"email": f"u{n}@example.com"}, "avatar_url": None}, offset(r.query.get("start_cursor")))
    return {
        "object": "list", "results": items, "next_cursor": token(after) if after else None, "has_more": after is not None,
        "type": "user", "user": {}, "request_id": "a"}


@api("/admin/api/2024-01/products.json")
def shopify(r):
    # With page_info nothing but limit and fields may be sent.
    if "page_info" in r.query:
        r.only("page_info", "limit", "fields")
    items, after = window(lambda n: {
        "id": 632910390 + n, "title": f"Product {n}", "vendor": "Apple", "product_type": "Cult", "created_at": day(n),
        "variants": [{"id": 808950810 + n, "price": "199.00", "sku": f"S{n}"}], "tags": "Emotive"},
        offset(r.query.get("page_info")))
    link = f'<{r.base}{r.path}?page_info={token(after)}&limit=10>; rel="next"' if after else ""
    return {"products": items}, {"Link": link} if link else {}


@api("/v0/appHf/Tasks")
def airtable(r):
    items, after = window(lambda n: {
        "id": f"rec{n:014}", "createdTime": day(n), "fields": {"Name": f"Task {n}", "Done": True}},
        offset(r.query.get("offset", "").partition("/")[2]))
    return {"records": items, **({"offset": f"itr{after:014}/{token(after)}"} if after else {})}


@api("/crm/v3/objects/contacts")
def hubspot(r):
    start = r.number("after", 0)
    items, after = window(lambda n: {
        "id": str(n), "properties": {"email": f"u{n}@example.com", "firstname": "Ann", "lastname": None}, "createdAt": day(n),
        "updatedAt": day(n), "archived": False}, start)
    return {"results": items, **({"paging": {"next": {"after": str(after), "link": r.link(after=after)}}} if after else {})}


@api("/latest.json")
def discourse(r):
    page = r.number("page", 0)
    items, after = window(lambda n: {
        "id": n, "title": f"Topic {n}", "slug": f"topic-{n}", "posts_count": n, "created_at": day(n), "pinned": False,
        "posters": [{"extras": "latest", "user_id": 1}]}, page * SIZE)
    topics = {"can_create_topic": False, "per_page": 30, "top_tags": [], "topics": items}
    if after:
        topics["more_topics_url"] = f"/latest?no_definitions=true&page={page + 1}"
    return {"users": [{"id": 1, "username": "sam", "name": "Sam"}], "primary_groups": [], "topic_list": topics}


@api("/latest")
def discourse_more(r):
    if "json" not in r.headers.get("Accept", ""):
        raise Refused(200, "<html><title>Forum</title></html>")
    return discourse(r)


@api("/api/v1/timelines/public")
def mastodon(r):
    start = COUNT - int(r.query["max_id"]) + 1 if "max_id" in r.query else 0
    items, after = window(lambda n: {
        "id": str(COUNT + 1 - n), "created_at": day(n), "in_reply_to_id": None, "sensitive": False, "language": "en",
        "content": "<p>Hi</p>", "account": {"id": "1", "username": "ann", "acct": "ann@example.com"}, "media_attachments": [],
        "reblog": None}, start)
    link = f'<{r.base}{r.path}?max_id={items[-1]["id"]}>; rel="next", ' if after else ""
    return items, {"Link": link + f'<{r.base}{r.path}?min_id={items[0]["id"]}>; rel="prev"'}


@api("/wp-json/wp/v2/posts")
def wordpress(r):
    page = r.number("page", 1)
    if page > 3:
        raise Refused(400, {"code": "rest_post_invalid_page_number", "message": "The page number is too high.", "data": {}})
    items, after = window(lambda n: {
        "id": n, "date": f"2024-03-{n:02}T10:00:00", "slug": f"post-{n}", "status": "publish", "title": {"rendered": f"Post {n}"},
        "author": 1, "categories": [1], "meta": [], "_links": {"self": [{"href": "https://example.com"}]}}, (page - 1) * SIZE)
    return items, {"X-WP-Total": "25", "X-WP-TotalPages": "3", **({"Link": f'<{r.link(page=page + 1)}>; rel="next"'} if after else {})}


@api("/rest/api/2/search")
def jira(r):
    items, _ = window(lambda n: {
        "expand": "operations", "id": str(10000 + n), "self": f"https://example.com/{n}", "key": f"EX-{n}",
        "fields": {"summary": "Fix it", "updated": "2024-03-01T10:00:00.000+0000", "status": {"id": "1", "name": "Open"}}},
        r.number("startAt", 0))
    return {"expand": "names,schema", "startAt": r.number("startAt", 0), "maxResults": SIZE, "total": COUNT, "issues": items}


@api("/rest/api/3/search/jql")
def jira_cloud(r):
    items, after = window(lambda n: {"id": str(10000 + n), "key": f"EX-{n}"}, offset(r.query.get("nextPageToken")))
    return {"issues": items, "isLast": after is None, **({"nextPageToken": token(after)} if after else {})}


@api("/api/v2/tickets")
def zendesk(r):
    start = offset(r.query.get("page[after]"))
    items, after = window(lambda n: {
        "id": n, "url": f"https://example.zendesk.com/api/v2/tickets/{n}.json", "subject": "Help", "status": "open",
        "requester_id": 20978392, "tags": ["a"], "created_at": day(n), "updated_at": day(n)}, start)
    # The last page has a next link too.
    return {
        "tickets": items, "meta": {"has_more": after is not None, "after_cursor": token(after or COUNT), "before_cursor": "x"},
        "links": {"next": r.link(**{"page[after]": token(after or COUNT)}), "prev": r.link()}}


@api("/api/people")
def spring_hal(r):
    page = r.number("page", 0)
    items, after = window(lambda n: {
        "firstName": "Frodo", "id": n, "_links": {"self": {"href": f"{r.base}/people/{n}"}}}, page * SIZE)
    links = {"self": {"href": r.link()}, "profile": {"href": r.base + "/profile"}}
    if after:
        links["next"] = {"href": r.link(page=page + 1)}
    return {"_embedded": {"people": items}, "_links": links, "page": {"size": SIZE, "totalElements": COUNT, "totalPages": 3, "number": page}}


@api("/api/books")
def spring_page(r):
    page = r.number("page", 0)
    items, after = window(lambda n: {"id": n, "title": f"Book {n}", "price": 9.5}, page * SIZE)
    return {
        "content": items, "pageable": {"sort": {"sorted": False}, "pageNumber": page, "pageSize": SIZE, "offset": page * SIZE},
        "last": after is None, "totalPages": 3, "totalElements": COUNT, "first": page == 0, "number": page, "size": SIZE,
        "numberOfElements": len(items), "empty": False}


@api("/youtube/v3/search")
def youtube(r):
    if not r.query.get("key"):
        raise Refused(403, {"error": {"code": 403, "message": "The request is missing a valid API key."}})
    items, after = window(lambda n: {"kind": "youtube#video", "etag": f"e{n}", "id": f"v{n}", "snippet": {"title": f"V {n}"}},
                          offset(r.query.get("pageToken")))
    return {
        "kind": "youtube#listResponse", "etag": "x", **({"nextPageToken": token(after)} if after else {}),
        "pageInfo": {"totalResults": COUNT, "resultsPerPage": SIZE}, "items": items}


@api("/w/api.php")
def mediawiki(r):
    if r.query.get("action") != "query" or r.query.get("format") != "json":
        raise Refused(200, "<!DOCTYPE html><html><title>MediaWiki API help</title></html>")
    items, after = window(lambda n: {"pageid": n, "ns": 0, "title": f"Page {n}"}, offset(r.query.get("apcontinue")))
    if ("apcontinue" in r.query) != ("continue" in r.query):
        raise Refused(200, {"error": {"code": "badcontinue", "info": "Invalid continue param."}})
    return {
        "batchcomplete": True, "query": {"allpages": items},
        **({"continue": {"apcontinue": token(after), "continue": "-||"}} if after else {})}


@api("/arcgis/rest/services/Cities/FeatureServer/0/query")
def arcgis(r):
    items, after = window(lambda n: {"attributes": {"OBJECTID": n, "NAME": f"City {n}"}, "geometry": {"x": 1.5, "y": 2}},
                          r.number("resultOffset", 0))
    return {
        "objectIdFieldName": "OBJECTID", "fields": [{"name": "OBJECTID", "type": "esriFieldTypeOID"}], "features": items,
        **({"exceededTransferLimit": True} if after else {})}


@api("/books/_search")
def elasticsearch(r):
    items, _ = window(lambda n: {"_index": "books", "_id": f"b{n}", "_score": 1.0, "_source": {"title": f"Book {n}", "year": 1900 + n}},
                      r.number("from", 0))
    return {
        "took": 3, "timed_out": False, "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": COUNT, "relation": "eq"}, "max_score": 1.0, "hits": items}}


@api("/fhir/Patient")
def fhir(r):
    start = r.number("_getpagesoffset", 0)
    items, after = window(lambda n: {
        "fullUrl": f"{r.base}/fhir/Patient/{n}", "resource": {"resourceType": "Patient", "id": str(n), "gender": "female"},
        "search": {"mode": "match"}}, start)
    links = [{"relation": "self", "url": r.link()}]
    if after:
        links.append({"relation": "next", "url": r.link(_getpagesoffset=after)})
    return {"resourceType": "Bundle", "id": "x", "type": "searchset", "total": COUNT, "link": links, "entry": items}


@api("/fdsnws/event/1/query")
def geojson(r):
    return {
        "type": "FeatureCollection", "metadata": {"generated": 1700000000000, "title": "Quakes", "status": 200, "count": COUNT},
        "features": [{
            "type": "Feature", "id": f"us{n}", "properties": {"mag": 4.5, "place": "Chile", "time": 1700000000000 + n},
            "geometry": {"type": "Point", "coordinates": [1, 2, 3]}} for n in range(1, COUNT + 1)]}


@api("/rooms.json")
def firebase(r):
    return {f"-N{n:03}": {"name": f"Room {n}", "seats": n} for n in range(1, COUNT + 1)}


@api("/V4/Products")
def odata(r):
    skip = r.number("$skip", 0)
    items, after = window(lambda n: {"ID": n, "Name": f"Product {n}", "Price": 2.5, "ReleaseDate": day(n)}, skip)
    body = {"@odata.context": f"{r.base}/V4/$metadata#Products", "value": items}
    if after:
        body["@odata.nextLink"] = f"{r.base}/V4/Products?$skip={after}"
    return body


@api("/jsonapi/articles")
def json_api(r):
    start = r.number("page[offset]", 0)
    items, after = window(lambda n: {
        "type": "articles", "id": str(n), "attributes": {"title": f"Article {n}", "created": day(n)},
        "relationships": {"author": {"data": {"type": "people", "id": "9"}}}}, start)
    return {
        "jsonapi": {"version": "1.0"}, "data": items, "included": [{"type": "people", "id": "9", "attributes": {"name": "Dan"}}],
        "links": {"self": {"href": r.link()}, **({"next": {"href": r.link(**{"page[offset]": after})}} if after else {})}
    }, {"Content-Type": "application/vnd.api+json"}


@api("/v1/me/playlists")
def spotify(r):
    start = r.number("offset", 0)
    items, after = window(lambda n: {"id": f"pl{n}", "name": f"List {n}", "tracks": {"href": "https://x", "total": n}}, start)
    return {
        "href": r.link(), "limit": SIZE, "next": r.link(offset=after, limit=SIZE) if after else None, "offset": start,
        "previous": None, "total": COUNT, "items": items}


@api("/r/swift/new.json")
def reddit(r):
    start = int(r.query["after"][3:]) if "after" in r.query else 0
    items, after = window(lambda n: {"kind": "t3", "data": {"id": str(n), "name": f"t3_{n}", "title": "Hi"}}, start)
    return {"kind": "Listing", "data": {"after": f"t3_{after}" if after else None, "dist": len(items), "children": items, "before": None}}


@api("/helix/streams")
def twitch(r):
    r.only("after", "first")
    items, after = window(lambda n: {"id": str(n), "user_login": f"u{n}"}, offset(r.query.get("after")))
    return {"data": items, "pagination": {"cursor": token(after)} if after else {}}


@api("/v2/customers")
def square(r):
    items, after = window(lambda n: {"id": f"C{n}", "given_name": "Amelia"}, offset(r.query.get("cursor")))
    return {"customers": items, **({"cursor": token(after)} if after else {})}


@api("/spaces/x/entries")
def contentful(r):
    skip = r.number("skip", 0)
    items, _ = window(lambda n: {"sys": {"id": f"e{n}", "type": "Entry", "updatedAt": day(n)}, "fields": {"title": "Hi"}}, skip)
    return {"sys": {"type": "Array"}, "total": COUNT, "skip": skip, "limit": SIZE, "items": items}


@api("/1/indexes/books")
def algolia(r):
    page = r.number("page", 0)
    items, _ = window(lambda n: {"objectID": str(n), "name": f"Book {n}"}, page * SIZE)
    return {"hits": items, "nbHits": COUNT, "page": page, "nbPages": 3, "hitsPerPage": SIZE, "processingTimeMS": 1}


@api("/api/1.0/tasks")
def asana(r):
    items, after = window(lambda n: {"gid": str(n), "resource_type": "task", "name": f"Task {n}"}, offset(r.query.get("offset")))
    more = {"offset": token(after), "path": f"/tasks?offset={token(after)}", "uri": r.link(offset=token(after))} if after else None
    return {"data": items, "next_page": more}


@api("/contacts")
def intercom(r):
    r.only("starting_after", "per_page")
    start = offset(r.query.get("starting_after"))
    items, after = window(lambda n: {"type": "contact", "id": f"c{n}", "role": "user"}, start)
    pages = {"type": "pages", "page": start // SIZE + 1, "per_page": SIZE, "total_pages": 3}
    if after:
        pages["next"] = {"page": pages["page"] + 1, "starting_after": token(after)}
    return {"type": "list", "data": items, "total_count": COUNT, "pages": pages}


@api("/2.3/questions")
def stackexchange(r):
    page = r.number("page", 1)
    items, after = window(lambda n: {"question_id": n, "title": "Why?", "creation_date": 1700000000 + n}, (page - 1) * SIZE)
    return {"items": items, "has_more": after is not None, "quota_max": 300, "quota_remaining": 297}


@api("/api/0/projects")
def sentry(r):
    start = offset(r.query.get("cursor"))
    items, after = window(lambda n: {"id": str(n), "slug": f"p{n}", "dateCreated": day(n)}, start)
    has = "true" if after else "false"
    return items, {
        "Link": f'<{r.link(cursor=token(0))}>; rel="previous"; results="false"; cursor="0:0:1", '
                f'<{r.link(cursor=token(after or COUNT))}>; rel="next"; results="{has}"; cursor="0:100:0"'}


@api("/2/tweets/search/recent")
def twitter(r):
    items, after = window(lambda n: {"id": str(n), "text": "Hi"}, offset(r.query.get("next_token")))
    return {"data": items, "meta": {"newest_id": "1", "result_count": len(items), **({"next_token": token(after)} if after else {})}}


@api("/nd/logs")
def ndjson(r):
    lines = "".join(json.dumps({"id": n, "message": f"m{n}", "at": day(n)}) + "\n" for n in range(1, COUNT + 1))
    return lines, {"Content-Type": "application/x-ndjson"}


@api("/nd/plain")
def lines_as_text(r):
    return ndjson(r)[0], {"Content-Type": "text/plain"}


PEOPLE = [{"id": n, "name": f"Person {n}", "city": ["Paris", "Berlin"][n % 2], "changed": day(n)} for n in range(1, COUNT + 1)]


@api("/people")
def people(r):
    found = [p for p in PEOPLE if r.query.get("city", p["city"]) == p["city"] and p["changed"] >= r.query.get("since", "")]
    page = r.number("page", 1)
    return {"items": found[(page - 1) * SIZE:page * SIZE], "page": page, "total_pages": -(-len(found) // SIZE)}


@api("/pets")
def pets(r):
    owner = r.number("owner", 0)
    return [{"id": owner * 10 + k, "name": f"Pet {k}"} for k in range(2)]


@api("/says")
def says(r):
    """Whatever the query says: the status, the body, header fields."""
    fields = {k[2:]: v for k, v in r.query.items() if k.startswith("h-")}
    status = r.number("status", 200)
    body = r.query.get("body", "[]")
    if r.query.get("cookies"):
        fields.update({"Set-Cookie": "a=" + "x" * r.number("cookies", 0)})
    raise Refused(status, Raw(body, fields))


class Raw(str):
    def __new__(cls, text, fields):
        raw = super().__new__(cls, text)
        raw.fields = fields
        return raw


@api("/linked")
def linked(r):
    """Pages by a Link header that the first request's `link` has, with NEXT for the address."""
    page = r.number("page", 1)
    items, after = window(lambda n: {"id": n}, (page - 1) * SIZE)
    link = r.query["link"].replace("NEXT", r.link(page=page + 1)) if after else '<x>; rel="prev"'
    return items, {"Link": link}


@api("/partial")
def partial(r):
    """PostgREST's way: 206 while there is more."""
    start = r.number("offset", 0)
    items, after = window(lambda n: {"id": n}, start)
    raise Refused(206 if after else 200, Raw(json.dumps(items), {"Content-Range": f"{start}-{start + len(items) - 1}/{COUNT}"}))


def signature(secret, scope, method, path, query, headers, signed, body, instant):
    """AWS Signature Version 4, as "Create a signed AWS API request" of the IAM user guide has it."""
    def quoted(text):
        return urllib.parse.quote(text, safe="-_.~")

    pairs = sorted((quoted(k), quoted(v)) for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True))
    canonical = "\n".join([
        method, urllib.parse.quote(urllib.parse.unquote(path), safe="/-_.~"), "&".join(f"{k}={v}" for k, v in pairs),
        "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed), ";".join(signed),
        headers.get("x-amz-content-sha256") or hashlib.sha256(body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", instant, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


# The example of the AWS General Reference, "Examples of the complete Signature Version 4 signing process".
assert signature(
    "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830/us-east-1/iam/aws4_request", "GET", "/",
    "Action=ListUsers&Version=2010-05-08",
    {"content-type": "application/x-www-form-urlencoded; charset=utf-8", "host": "iam.amazonaws.com",
     "x-amz-date": "20150830T123600Z"}, ["content-type", "host", "x-amz-date"], b"",
    "20150830T123600Z") == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"


@api("/aws/instances")
def aws(r):
    given = dict(part.strip().split("=", 1) for part in r.headers["Authorization"].partition(" ")[2].split(","))
    headers = {k.lower(): v for k, v in r.headers.items()}
    scope = given["Credential"].partition("/")[2]
    expected = signature(
        "s3cret+key/x", scope, r.method, r.path, r.raw_query, headers, given["SignedHeaders"].split(";"), r.body,
        headers["x-amz-date"])
    if expected != given["Signature"] or not given["Credential"].startswith("AKIDEXAMPLE/"):
        raise Refused(403, {"message": "The request signature we calculated does not match the signature you provided."})
    items, after = window(lambda n: {"id": n}, offset(r.query.get("NextToken")))
    return {"items": items, **({"NextToken": token(after)} if after else {})}


@api("/graphql")
def graphql(r):
    raise Refused(400, {"errors": [{"message": "Must provide query string."}]})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self)
        if LOG:
            LOG.write(json.dumps({
                "event": "begin", "time": 0, "path": self.path, "origin": 0, "client": 0,
                "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")
        fields = {}
        status = 200
        try:
            found = APIS.get(request.path)
            if not found:
                raise Refused(404, {"message": "Not Found"})
            body = found(request)
            if isinstance(body, tuple):
                body, fields = body
        except Refused as refusal:
            status, body = refusal.status, refusal.body
            fields = getattr(body, "fields", {})
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(body, str) and body.startswith("<") else "application/json; charset=utf-8"
        for name, value in {"Content-Type": kind, **fields}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = answer


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
