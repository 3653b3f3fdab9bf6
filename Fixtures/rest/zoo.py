"""Listings as well-known APIs serve them, and the ways in which those want to know who asks.

Every listing has 25 users, at most 10 a page. A style is a function that gets the request (query, body, headers, url) and
returns the reply's body, and header fields if there are any.
"""
import base64
import email.utils
import hashlib
import hmac
import json
import os
import subprocess
import tempfile
import threading
import time
import urllib.parse

from sessions import refused_session, rotating_session  # noqa: F401, styles like those below

COUNT, SIZE = 25, 10


def user(number):
    return {"id": number, "name": f"User {number}"}


USERS = [user(n) for n in range(1, COUNT + 1)]


class Request:
    def __init__(self, handler):
        self.path = handler.url.path
        self.query = handler.query
        self.text = handler.body.decode()
        self.headers = handler.headers
        self.base = f"http://127.0.0.1:{handler.server.server_address[1]}"
        self.method = handler.command
        kind = handler.headers.get("Content-Type") or ""
        if "json" in kind:
            self.body = json.loads(self.text or "{}")
        else:
            self.body = {k: v[0] for k, v in urllib.parse.parse_qs(self.text).items()}

    def number(self, name, default):
        return int(self.query.get(name, default))

    def link(self, **query):
        return f"{self.path}?{urllib.parse.urlencode(query)}"


def window(start, size=SIZE):
    return USERS[start:start + size], start + size if start + size < COUNT else None


# ---------------------------------------------------------------- paging


def github(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    links = [f'<{r.base}{r.link(page=1)}>; rel="first"']
    if follows:
        links.insert(0, f'<{r.base}{r.link(page=page + 1)}>; rel="next"')
    return items, {"Link": ", ".join(links)}


def django(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    return {"count": COUNT, "next": r.base + r.link(page=page + 1) if follows else None, "previous": None, "results": items}


def laravel(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    return {
        "data": items, "links": {"first": r.base + r.link(page=1), "next": r.base + r.link(page=page + 1) if follows else None},
        "meta": {"current_page": page, "last_page": 3, "total": COUNT}}


def slack(r):
    items, follows = window(int(r.query.get("cursor") or 0))
    return {"ok": True, "members": items, "response_metadata": {"next_cursor": str(follows or "")}}


def stripe(r):
    items, follows = window(r.number("starting_after", 0))
    return {"object": "list", "url": "/v1/customers", "has_more": follows is not None, "data": items}


def notion(r):
    items, follows = window(int(r.body.get("start_cursor") or 0))
    return {"object": "list", "results": items, "has_more": follows is not None, "next_cursor": follows and str(follows)}


def odata(r):
    items, follows = window(r.number("$skiptoken", 0))
    reply = {"@odata.context": "$metadata#Users", "@odata.count": COUNT, "value": items}
    if r.query.get("delta"):
        return {"value": [user(26), {"@removed": {"reason": "deleted"}, "id": 3}],
                "@odata.deltaLink": r.base + r.path + "?delta=2"}
    if follows:
        reply["@odata.nextLink"] = r.base + r.link(**{"$skiptoken": follows})
    else:
        reply["@odata.deltaLink"] = r.base + r.path + "?delta=1"
    return reply


def json_api(r):
    page = r.number("page[number]", 1)
    items, follows = window((page - 1) * SIZE)
    return {
        "data": [{
            "type": "users", "id": str(item["id"]), "attributes": {"name": item["name"]},
            "relationships": {
                "team": {"data": {"type": "teams", "id": "7"}}, "friends": {"data": [{"type": "users", "id": "1"}]},
                "posts": {"links": {"related": "/posts"}}}} for item in items],
        "included": [{"type": "teams", "id": "7", "attributes": {"title": "Blue"}}],
        "links": {"self": r.path, "next": r.base + r.link(**{"page[number]": page + 1}) if follows else None}}


def hal(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    links = {"self": {"href": r.path}}
    if follows:
        links["next"] = {"href": r.link(page=page + 1)}
    users = [dict(item, _links={"self": {"href": "/u"}}, _embedded={"team": {"id": 7}}) for item in items]
    return {"_links": links, "_embedded": {"users": users}, "total": COUNT}


def graphql(r):
    if "fail" in r.body["query"]:
        return {"data": None, "errors": [{"message": "no field `fail`", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}]}
    after = r.body["variables"].get("after")
    counts = "$after: Int" in r.body["query"]
    if counts and isinstance(after, str):
        return {"data": None, "errors": [{"message": "after must be an Int"}]}
    items, follows = window(int(after or 0))
    page = {"hasNextPage": follows is not None, "endCursor": (follows or COUNT) if counts else str(follows or COUNT)}
    if "edges" in r.body["query"]:
        return {"data": {"users": {"edges": [{"cursor": "c", "node": item} for item in items], "pageInfo": page}}}
    reply = {"data": {"users": {"totalCount": COUNT, "nodes": items, "pageInfo": page}}}
    if "partial" in r.body["query"] and items[0]["id"] == 1:
        reply["errors"] = [{"message": "user 99 is not yours", "extensions": {"code": "FORBIDDEN"}}]
    return reply


def counted_cursor(r):
    """A cursor and a key that are numbers, and are not taken as texts."""
    after = r.body.get("after", 0)
    if not isinstance(after, int):
        return {"error": "after must be a number"}, {"status": 400}
    items, follows = window(after)
    return {"items": items, "next": follows}


def graphql_offset(r):
    variables = r.body["variables"]
    start = variables["offset"]
    return {"data": {"users": USERS[start:start + variables["limit"]]}}


def graphql_nested(r):
    """A listing of one page, whose first record has a list that goes on."""
    first = {"id": 1, "tags": {"nodes": [{"id": 7}], "pageInfo": {"hasNextPage": True, "endCursor": "x"}}}
    page = {"hasNextPage": False, "endCursor": "y"}
    return {"data": {"users": {"nodes": [first] + USERS[1:], "pageInfo": page}}}


def graphql_page(r):
    if "$page" in r.body["query"]:
        start = (r.body["variables"].get("page", 1) - 1) * SIZE
    else:
        start = r.body["variables"].get("skip", 0)
    return {"data": {"users": USERS[start:start + SIZE]}}


def smorest(r):
    """flask-smorest: a header field that is JSON."""
    page = r.number("page", 1)
    told = {"total": COUNT, "total_pages": 3, "first_page": 1, "last_page": 3, "page": page}
    if page < 3:
        told["next_page"] = page + 1
    return window((page - 1) * SIZE)[0], {"X-Pagination": json.dumps(told)}


def aspnet(r):
    """The same of ASP.NET, whose names begin with capitals and whose parameters nothing says."""
    page = r.number("PageNumber", 1)
    follows = f"{r.base}{r.link(PageNumber=page + 1)}" if page < 3 else None
    told = {"TotalCount": COUNT, "PageSize": SIZE, "CurrentPage": page, "TotalPages": 3, "NextPageLink": follows}
    return window((page - 1) * SIZE)[0], {"Paging-Headers": json.dumps(told)}


def table(r):
    """Datasette and many query APIs: rows of values, their names once."""
    page = r.number("page", 1)
    rows = [[user["id"], user["name"]] for user in window((page - 1) * SIZE)[0]]
    next_url = f"{r.base}{r.link(**{**r.query, 'page': page + 1})}" if page < 3 else None
    names = [{"name": "id", "type": "int"}, {"name": "name", "type": "text"}] if "typed" in r.query else ["id", "name"]
    return {"columns": names, "rows": rows, "facets": [{"name": "name"}], "next_url": next_url}


def rison(r):
    """Flask-AppBuilder: the page is a part of a parameter."""
    number, size = (int(part.split(":")[1]) for part in r.query.get("q", "(page:0,page_size:5)").strip("()").split(","))
    return {"count": COUNT, "result": USERS[number * size:(number + 1) * size]}


def header_row(r):
    return [["id", "name"]] + [[user["id"], user["name"]] for user in USERS] + [[26, "User 26", "one too many"]]


def header_rows(r):
    """Pages of rows: each begins with the names, with ?once= the first alone."""
    start = r.number("offset", 0)
    names = [["id", "name"]] if start == 0 or "once" not in r.query else []
    return names + [[str(user["id"]), user["name"]] for user in window(start)[0]]


def told(r):
    """Replies as the test says: `of` has them by the value of the parameter that `by` names, "" for without.

    One with the member @head has header fields and a status of its own.
    """
    at = r.query.get(r.query["by"], r.body.get(r.query["by"], ""))
    reply = json.loads(r.query["of"]).get(at, ({"error": f"nothing is said of {at}"}, {"status": 404}))
    if isinstance(reply, dict) and "@head" in reply:
        return reply.get("@body"), reply["@head"]
    return reply


def gaps(r):
    """Three pages of a record, by a Link header. The one at `at` has none: `empty` says whether it is 204 or busy; with ?lost=1 it has no link."""
    page = r.number("page", 1)
    head = {"Link": f'<{r.base}{r.link(**{**r.query, "page": page + 1})}>; rel="next"'} if page < 3 else {}
    if page != r.number("at", 2):
        return [{"id": page}], head
    if "lost" in r.query:
        head = {}
    return (b"", {"status": 204, **head}) if r.query.get("empty") == "204" else ({"busy": True}, head)


def spring(r):
    page = r.number("page", 0)
    items, follows = window(page * SIZE)
    return {"content": items, "number": page, "size": SIZE, "totalPages": 3, "totalElements": COUNT, "last": follows is None,
            "sort": {"sorted": True}}


def jira(r):
    start = r.number("startAt", 0)
    return {"startAt": start, "maxResults": SIZE, "total": COUNT, "issues": window(start)[0]}


def gitlab(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    return items, {"X-Next-Page": str(page + 1) if follows else "", "X-Total": str(COUNT)}


def google(r):
    items, follows = window(int(r.query.get("pageToken") or 0))
    reply = {"kind": "users#list", "users": items}
    if follows:
        reply["nextPageToken"] = str(follows)
    return reply


def dummyjson(r):
    start = r.number("skip", 0)
    return {"users": window(start)[0], "total": COUNT, "skip": start, "limit": SIZE}


def fhir(r):
    start = r.number("_offset", 0)
    items, follows = window(start)
    links = [{"relation": "self", "url": r.path}]
    if follows:
        links.append({"relation": "next", "url": r.base + r.link(_offset=follows)})
    return {"resourceType": "Bundle", "link": links, "entry": [{"fullUrl": "u", "resource": item} for item in items]}


def stac(r):
    items, follows = window(r.number("from", 0))
    links = [{"rel": "root", "href": "/"}]
    if follows:
        links.append({"rel": "next", "href": r.base + r.link(**{"from": follows})})
    return {"type": "FeatureCollection", "features": items, "links": links}


def mango(r):
    start = int(r.body.get("bookmark") or 0)
    items, _ = window(start)
    return {"docs": items, "bookmark": str(min(start + len(items), COUNT))}


def roundup(r):
    """A list of the links to each relation, below an object with an odd name."""
    page = r.number("@page_index", 1)
    items, follows = window((page - 1) * SIZE)
    links = {"self": [{"rel": "self", "uri": r.base + r.link(**{"@page_index": page})}]}
    if follows:
        links["next"] = [{"rel": "next", "uri": r.base + r.link(**{"@page_index": page + 1})}]
    return {"data": {"collection": items, "@links": links, "@total_size": COUNT}}


def buildbot(r):
    """Takes an offset and never says so; its records have no `id`."""
    items, _ = window(r.number("offset", 0), r.number("limit", COUNT))
    return {"builders": [{"builderid": n["id"], "name": n["name"]} for n in items], "meta": {"total": COUNT}}


def prefect(r):
    """Pages by its body alone, and says nothing of pages."""
    return window(int(r.body.get("offset", 0)), int(r.body.get("limit", SIZE)))[0]


def nested(r):
    """The same, with the numbers in an object of the body."""
    page = r.body.get("paging", {})
    return {"items": window(int(page.get("offset", 0)), int(page.get("limit", SIZE)))[0]}


def wordpress(r):
    page = r.number("page", 1)
    return window((page - 1) * SIZE)[0], {"X-WP-Total": str(COUNT), "X-WP-TotalPages": "3"}


def rickandmorty(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    return {"info": {"count": COUNT, "pages": 3, "next": r.base + r.link(page=page + 1) if follows else None}, "results": items}


def postgrest(r):
    start = r.number("offset", 0)
    items, _ = window(start)
    return items, {"Content-Range": f"{start}-{start + len(items) - 1}/{COUNT}"}


def hydra(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    view = {"@id": r.path, "@type": "hydra:PartialCollectionView"}
    if follows:
        view["hydra:next"] = r.link(page=page + 1)
    return {"@context": "/c", "hydra:member": items, "hydra:totalItems": COUNT, "hydra:view": view}


def hubspot(r):
    items, follows = window(r.number("after", 0))
    reply = {"results": items}
    if follows:
        reply["paging"] = {"next": {"after": str(follows), "link": r.base + r.link(after=follows)}}
    return reply


def airtable(r):
    items, follows = window(int(r.query.get("offset", "at0")[2:]))
    reply = {"records": items}
    if follows:
        reply["offset"] = f"at{follows}"
    return reply


def scim(r):
    start = r.number("startIndex", 1)
    return {"totalResults": COUNT, "startIndex": start, "itemsPerPage": SIZE, "Resources": window(start - 1)[0]}


def salesforce(r):
    items, follows = window(r.number("from", 0))
    reply = {"totalSize": COUNT, "done": follows is None, "records": items}
    if follows:
        reply["nextRecordsUrl"] = r.link(**{"from": follows})
    return reply


def strapi(r):
    page = r.number("pagination[page]", 1)
    return {"data": window((page - 1) * SIZE)[0],
            "meta": {"pagination": {"page": page, "pageSize": SIZE, "pageCount": 3, "total": COUNT}}}


def has_more(r):
    page = r.number("page", 1)
    items, follows = window((page - 1) * SIZE)
    return {"page": page, "items": items, "has_more": follows is not None}


def max_id(r):
    newest = r.number("max_id", COUNT)
    return [user(n) for n in range(newest, 0, -1)][:SIZE]


def german_times(r):
    """Times in a format of its own; a `since` of another one is not understood, and counts for nothing."""
    try:
        since = time.strptime(r.query.get("since", ""), "%d.%m.%Y %H:%M:%S")
    except ValueError:
        since = time.gmtime(0)
    users = [dict(u, changed=f"{u['id']:02}.11.2026 07:08:09") for u in USERS]
    return [u for u in users if time.strptime(u["changed"], "%d.%m.%Y %H:%M:%S") >= since]


def since_id(r):
    return window(r.number("since_id", 0))[0]


def search(r):
    start = r.body.get("paging", {}).get("offset", 0)
    return {"hits": USERS[start:start + r.body.get("paging", {}).get("limit", SIZE)], "sum": COUNT}


def header_cursor(r):
    start = int(r.headers.get("X-Cursor") or 0)
    items, follows = window(start)
    return items, {"X-Go-On": str(follows)} if follows else {}


def only_total(r):
    """Takes no offset; `clock` differs each time all the same, `refuse` refuses one, `overlap` does something else."""
    if "refuse" in r.query and "offset" in r.query:
        return {"error": "unknown parameter offset"}, {"status": 400}
    start = 5 if "overlap" in r.query and "offset" in r.query else 0
    now = {"now": time.monotonic_ns()} if "clock" in r.query else {}
    return {"total": COUNT, "items": [dict(item, **now) for item in USERS[start:start + SIZE]]}


def query_page(r):
    page = r.number("page", 1)
    return {"total": COUNT, "items": window((page - 1) * SIZE)[0]}


def by_key(r):
    return {"users": {f"u{item['id']}": item for item in USERS[:3]}}


def rates(r):
    return {"base": "EUR", "rates": {"USD": 1.10, "JPY": 163}}


def names(r):
    """A list of names instead of objects, as docker's registry lists repositories: `kind` puts it elsewhere."""
    start = r.number("last", 0)
    items, follows = window(start)
    reply = {
        "alone": {"repositories": [item["name"] for item in items]},
        "enveloped": {"status": "success", "data": [item["name"] for item in items]},
        "rows": {"columns": ["id", "name"], "rows": [[item["id"], item["name"]] for item in items]},
        "record": {"name": "User", "tags": [item["name"] for item in items]},
    }[r.query.get("kind", "alone")]
    links = [f'<{r.link(last=follows, kind=r.query.get("kind", "alone"))}>; rel="next"'] if follows else []
    return reply, {"Link": ", ".join(links)} if links else {}


def generator(r):
    """MediaWiki's generators: objects by their ids, a step deeper than usual."""
    start = r.number("gapcontinue", 0)
    items, follows = window(start)
    reply = {"batchcomplete": "", "query": {"pages": {str(item["id"]): item for item in items}}}
    return dict(reply, **{"continue": {"gapcontinue": follows, "continue": "gapcontinue||"}}) if follows else reply


def etcd(r):
    """JSON of protocol buffers leaves out what is false, 0 or empty."""
    after = int(r.body.get("min_mod_revision", 1))
    items, follows = window(after - 1)
    reply = {"header": {"revision": "9"}}
    if items and not r.body.get("empty"):
        reply["kvs"] = [{"key": item["name"], "mod_revision": str(item["id"])} for item in items]
    return dict(reply, more=True) if follows else reply


def session(r):
    """Transmission: what the server hands out with a refusal goes along with each request; `uses` requests are one session."""
    current = f"s3cret-session-{SESSIONS['served'] // r.number('uses', 1000)}"
    if r.headers.get("X-Zoo-Session-Id") != current:
        return {"error": "session"}, {"status": 409, "X-Zoo-Session-Id": current}
    SESSIONS["served"] += 1
    start = r.number("offset", 0)
    return {"total": COUNT, "offset": start, "items": window(start)[0]}


def ndjson(r):
    lines = [json.dumps(item) for item in USERS]
    if "broken" in r.query:
        lines[3] = '{"id": 4, "name"'
        lines[5] = "[1]"
    return "\n".join(lines).encode() + b"\n", {"Content-Type": "application/x-ndjson"}


# ---------------------------------------------------------------- counts that are no totals


def page_count(r):
    """`count` says how many records this page has."""
    page = r.number("page", 1)
    items, _ = window((page - 1) * SIZE)
    reply = {"count": len(items), "page": page, "items": items}
    return reply if "unlimited" in r.query else dict(reply, limit=SIZE)


def offset_count(r):
    offset = r.number("offset", 0)
    items, _ = window(offset)
    return {"count": len(items), "offset": offset, "limit": SIZE, "items": items}


def query_count(r):
    """Says nothing but `count`: the request pages."""
    items, _ = window((r.number("page", 1) - 1) * SIZE)
    return {"count": len(items), "items": items}


def next_from(r):
    """Synapse: `next_token` is an offset that `from` takes; other parameters are ignored, or refused with ?strict=."""
    if "strict" in r.query and not {"from", "strict"}.issuperset(r.query):
        return {"error": "unknown parameter"}, {"status": 400}
    items, follows = window(r.number("from", 0))
    return dict({"items": items, "total": COUNT}, **({"next_token": str(follows)} if follows else {}))


def next_nowhere(r):
    """Names a cursor that no parameter takes; ?empty= has no records where it is asked by another name than the first guess."""
    if "empty" in r.query and not {"empty", "next_token"}.issuperset(r.query):
        return {"items": [], "next_token": "10"}
    return {"items": USERS[:SIZE], "next_token": "10"}


def next_number(r):
    """`next_id` is the next record's id: as an offset it is one too many; ?own= takes it by its own name."""
    items, follows = window(r.number("next_id", 1) - 1 if "own" in r.query else r.number("offset", 0))
    return dict({"items": items}, **({"next_id": follows + 1} if follows else {}))


def matrix(r):
    start = int(r.query.get("from", "t0")[1:])
    items, follows = window(start)
    return dict({"chunk": items, "start": f"t{start}"}, **({"end": f"t{follows}"} if follows else {}))


def solr(r):
    """The last page's cursor is that page's own once more."""
    mark = r.query["cursorMark"]
    start = 0 if mark == "*" else int(mark[2:])
    docs = USERS[start:start + SIZE]
    return {"response": {"numFound": COUNT, "start": 0, "docs": docs}, "nextCursorMark": f"Ao{start + len(docs)}"}


def couch_changes(r):
    """Says how many are left, and a place to go on from also at the end."""
    start = int(r.query.get("since", "0-").split("-")[0])
    items, _ = window(start)
    last = start + len(items)
    return {"results": items, "last_seq": f"{last}-x", "pending": COUNT - last}


def cognito(r):
    items, follows = window(int(r.body.get("PaginationToken", 0)))
    return dict({"Users": items}, **({"PaginationToken": str(follows)} if follows else {}))


def table_names(r):
    """DynamoDB: plain texts, and the last of them is where the next page begins."""
    start = int(r.body.get("ExclusiveStartTableName", "t0")[1:])
    names = [f"t{item['id']}" for item in USERS[start:start + SIZE]]
    return dict({"TableNames": names}, **({"LastEvaluatedTableName": names[-1]} if start + SIZE < COUNT else {}))


def table_rows(r):
    return {"columns": ["id", "name"], "rows": [[item["id"], item["name"]] for item in USERS[:2]] + [[], [3, ["x", None]]]}


def only_total_named(r):
    """Airflow's pools: a name and no id, a total and no word of how to go on."""
    start = r.number("offset", 0)
    return {"pools": [{"name": f"pool {item['id']}", "slots": 1} for item in USERS[start:start + SIZE]], "total_entries": COUNT}


def called_a_page(r):
    return json.dumps(USERS).encode(), {"Content-Type": "text/html; charset=utf-8"}


def media_type(r):
    return [{"id": 1, "kind": r.headers.get("Content-Type")}]


def just_full(r):
    """A page that is full, and all there is; `then` says what comes of a request for the next one."""
    page = r.number("page", 1)
    if page > 1 and r.query.get("then") == "gone":
        return {"error": "no such page"}, {"status": 404}
    items = USERS[:SIZE] if page == 1 or r.query.get("then") == "same" else []
    return {"total": SIZE, "page": 1, "per_page": SIZE, "items": items}


# ---------------------------------------------------------------- a record per line, and paging in header fields


def lines(r, name):
    start = r.number(name, 0)
    items, follows = window(start)
    return "\n".join(json.dumps(item) for item in items).encode() + b"\n", follows, {"Content-Type": "application/x-ndjson"}


def ndjson_cursor(r):
    body, follows, headers = lines(r, "cursor")
    return body, dict(headers, **({"X-Next-Cursor": str(follows)} if follows else {}))


def ndjson_url(r):
    body, follows, headers = lines(r, "after")
    return body, dict(headers, **({"X-Next-URL": r.base + r.link(after=follows)} if follows else {}))


def ndjson_offset(r):
    """Offsets beyond the end are an error."""
    if r.number("offset", 0) >= COUNT:
        return {"error": "there is no such record"}, {"status": 500}
    body, follows, headers = lines(r, "offset")
    return body, dict(headers, **{"X-Full-Count": str(COUNT), "X-Has-More": "true" if follows else "false"})


# ---------------------------------------------------------------- compound documents


def compound(r):
    """JSON:API: articles by people who are in groups, which tell their members; `people` and `groups` say how many."""
    people, groups = r.number("people", 3), r.number("groups", 2)
    return {
        "data": [{
            "type": "articles", "id": str(n), "attributes": {"title": "x"},
            "relationships": {"author": {"data": {"type": "people", "id": str(n % people)}}}} for n in range(100)],
        "included": [{
            "type": "people", "id": str(n), "attributes": {"name": f"Person {n}"},
            "relationships": {"groups": {"data": [{"type": "groups", "id": str(g)} for g in range(groups)]}}}
            for n in range(people)] + [{
                "type": "groups", "id": str(g), "attributes": {"name": f"Group {g}"},
                "relationships": {"members": {"data": [{"type": "people", "id": str(n)} for n in range(people)]}}}
                for g in range(groups)]}


# ---------------------------------------------------------------- what did not move


def tagged(r):
    etag = '"v1"'
    if r.headers.get("If-None-Match") == etag:
        return b"", {"status": 304, "ETag": etag}
    return USERS, {"ETag": etag}


def dated(r):
    modified = "Wed, 21 Oct 2015 07:28:00 GMT"
    if r.headers.get("If-Modified-Since") == modified:
        return b"", {"status": 304}
    return USERS, {"Last-Modified": modified}


MARKED = {}


def marked(r):
    """A listing of pages that each have an ETag, of the body alone; `?of=` has users of its own, whom /zoo/marked-set sets.

    `style`: link says in the header field Link alone that another page follows, next in the body, page nowhere.
    """
    users, flags = MARKED.setdefault(r.query["of"], (COUNT, {}))
    style, page = r.query.get("style", "link"), r.number("page", 1)
    if flags.get("busy") == page and flags.pop("busy"):
        return {"error": "busy"}, {"status": 503, "Retry-After": "0"}
    if flags.get("slow") == page and "If-None-Match" in r.headers:
        time.sleep(8)
    items = [{"id": n, "name": flags.get("name", "User") if n == 12 else "User"} for n in range(1, users + 1)]
    follows = page * SIZE < users
    items = items[(page - 1) * SIZE:page * SIZE]
    link = r.link(**{**r.query, "page": page + 1})
    body = {"items": items, "next": link if follows else None} if style == "next" else items
    head = {"Link": f'<{link}>; rel="next"'} if style == "link" and follows else {}
    if flags.get("unmarked") == page:
        return body, head
    if flags.get("etag") == "none":
        return body, {**head, "ETag": ""}
    if r.method == "HEAD" and "head" in flags:
        return {}, {"status": flags["head"], **({"Retry-After": "0"} if "pause" in flags else {})}
    tag = '"' + hashlib.sha256(json.dumps(body).encode()).hexdigest() + '"'
    if r.headers.get("If-None-Match") == tag:
        return b"", {"status": 304, "ETag": tag}
    return body, {**head, "ETag": tag}


def marked_set(r):
    flags = {k: int(v) if v.isdigit() else v for k, v in r.query.items() if k not in ("of", "users")}
    MARKED[r.query["of"]] = (r.number("users", COUNT), flags)
    return []


def late(r):
    time.sleep(2)
    return USERS


def just_changed(r):
    return USERS, {"Last-Modified": email.utils.formatdate(time.time() + 1, usegmt=True)}


def changes(r):
    if "sync_token" in r.query:
        return {"users": [user(2)], "deleted": [{"id": 9}], "sync_token": "t2"}
    return {"users": USERS, "deleted": [], "sync_token": "t1"}


def soft_error(r):
    return {"ok": False, "error": r.query.get("error", "ratelimited")}


def limited(r):
    return USERS, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": r.query.get("reset", "1")}


# ---------------------------------------------------------------- who asks

LOCK = threading.Lock()
TOKENS = {}
COUNTS = {"token": 0, "login": 0}
SESSIONS = {"served": 0}


def unauthorized(words, **headers):
    return {"error": words}, {"status": 401, **headers}


def token(r):
    """RFC 6749: POST /zoo/token?way=basic|body&expires=SECONDS&uses=N&busy=NUMBER; with ?once=1 a refresh token is taken once."""
    with LOCK:
        COUNTS["token"] += 1
        number = COUNTS["token"]
    time.sleep(float(r.query.get("delay", 0)))
    basic = "Basic " + base64.b64encode(b"client%201:s3cret%2Fsecret").decode()
    if r.query.get("way", "basic") == "basic":
        known = r.headers.get("Authorization") == basic
    else:
        known = r.body.get("client_id") == "client 1" and r.body.get("client_secret") == "s3cret/secret"
    grant = r.body.get("grant_type")
    if grant == "urn:ietf:params:oauth:grant-type:jwt-bearer":
        known = verify_jwt(r.body.get("assertion", ""), r.query)
    if not known:
        return {"error": "invalid_client", "error_description": "who is that?"}, {"status": 401}
    if grant == "password" and (r.body.get("username"), r.body.get("password")) != ("ann", "s3cret-pw"):
        return {"error": "invalid_grant", "error_description": "no such user"}, {"status": 400}
    if number == r.number("busy", 0):
        return {"error": "busy"}, {"status": 503}
    if grant == "refresh_token" and "once" in r.query and number > 1 and r.body.get("refresh_token") != "rotated":
        return {"error": "invalid_grant"}, {"status": 400}
    if grant == "refresh_token" and r.body.get("refresh_token") not in ("s3cret-refresh", "rotated"):
        return {"error": "invalid_grant"}, {"status": 400}
    text = f"token-{number}-{r.body.get('scope', '')}-{r.body.get('audience', '')}"
    with LOCK:
        TOKENS[text] = int(r.query.get("uses", 1000))
    reply = {"access_token": text, "token_type": "Bearer", "expires_in": int(r.query.get("expires", 3600))}
    if grant == "refresh_token":
        reply["refresh_token"] = "rotated"
    return reply


def guarded(r):
    scheme, _, text = (r.headers.get("Authorization") or "").partition(" ")
    with LOCK:
        left = TOKENS.get(text, 0)
        TOKENS[text] = left - 1
    if left <= 0:
        return unauthorized("the token is not good")
    return django(r)


def login(r):
    with LOCK:
        COUNTS["login"] += 1
    if (r.body.get("username"), r.body.get("password")) != ("ann", "s3cret-pw"):
        return unauthorized("wrong password")
    if "cookie" in r.query:
        return {"ok": True}, {"Set-Cookie": "session=s3cret-session; Path=/; HttpOnly"}
    return {"data": {"token": "s3cret-login"}}


def with_login(r):
    if r.headers.get("X-Session") != "s3cret-login":
        return unauthorized("log in first")
    return USERS


def with_cookie(r):
    if r.headers.get("Cookie") != "session=s3cret-session":
        return unauthorized("log in first")
    return USERS


def counts(r):
    return [dict(COUNTS)]


def digest(r):
    nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
    given = r.headers.get("Authorization") or ""
    if not given.startswith("Digest "):
        return unauthorized("digest", **{"WWW-Authenticate": f'Digest realm="zoo", qop="auth", nonce="{nonce}", algorithm=MD5'})
    parts = dict(part.strip().split("=", 1) for part in given[7:].split(","))
    parts = {k: v.strip('"') for k, v in parts.items()}

    def md5(text):
        return hashlib.md5(text.encode()).hexdigest()
    expected = md5(":".join([
        md5("ann:zoo:s3cret-pw"), nonce, parts["nc"], parts["cnonce"], parts["qop"], md5(f"{r.method}:{parts['uri']}")]))
    return USERS if parts["response"] == expected else unauthorized("wrong password")


def verify_jwt(text, query):
    try:
        head, payload, signature = text.split(".")
    except ValueError:
        return False
    def decode(part):
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    header, claims, raw = json.loads(decode(head)), json.loads(decode(payload)), decode(signature)
    if claims["iss"] != "bmo" or not claims["iat"] < time.time() < claims["exp"]:
        return False
    data = f"{head}.{payload}".encode()
    if header["alg"] == "HS256":
        return hmac.compare_digest(hmac.new(b"s3cret-hmac", data, hashlib.sha256).digest(), raw)
    if header["alg"] == "ES256":
        def integer(part):
            part = part.lstrip(b"\0") or b"\0"
            part = (b"\0" if part[0] & 0x80 else b"") + part
            return b"\x02" + bytes([len(part)]) + part
        inner = integer(raw[:32]) + integer(raw[32:])
        raw = b"\x30" + bytes([len(inner)]) + inner
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [("data", data), ("sig", raw)]:
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return subprocess.run(
            ["openssl", "dgst", "-sha256", "-verify", query["public"], "-signature", f"{folder}/sig", f"{folder}/data"],
            capture_output=True).returncode == 0


def signed(r):
    text = (r.headers.get("Authorization") or "").removeprefix("Bearer ")
    return USERS if verify_jwt(text, r.query) else unauthorized("no such signature")


def basic(r):
    expected = "Basic " + base64.b64encode(b"ann:s3cret-pw").decode()
    return USERS if r.headers.get("Authorization") == expected else unauthorized("basic", **{"WWW-Authenticate": "Basic"})


def answer(handler, name):
    """Sends the reply of a style; False where there is none of that name."""
    style = globals().get(name.replace("-", "_"))
    if not callable(style) or name in ("user", "window", "lines", "answer", "unauthorized", "verify_jwt", "Request"):
        return False
    reply = style(Request(handler))
    headers = {}
    if isinstance(reply, tuple):
        reply, headers = reply
    handler.send(
        reply, headers.pop("status", 200), headers.pop("Content-Type", "application/json"),
        **{key.replace("-", "_"): value for key, value in headers.items()})
    return True
