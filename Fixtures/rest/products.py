#!/usr/bin/env python3
"""More listings in the style of well-known products, with what makes each of them hard to walk; see apis.py."""
import json
import sys
import threading

from apis import COUNT, SIZE, Handler, Refused, Server, api, day, offset, token, window


@api("/wiki/rest/api/content")
def confluence(r):
    start = r.number("start", 0)
    items, after = window(lambda n: {"id": str(n), "type": "page", "title": f"Page {n}"}, start)
    # The next link is a path below `base`, and not below the host.
    links = {"base": r.base + "/wiki", "context": "/wiki", "self": r.link()}
    if after:
        links["next"] = f"/rest/api/content?limit={SIZE}&start={after}"
    return {"results": items, "start": start, "limit": SIZE, "size": len(items), "_links": links}


@api("/wiki/api/v2/pages")
def confluence_cloud(r):
    items, after = window(lambda n: {"id": str(n), "title": f"Page {n}"}, offset(r.query.get("cursor")))
    links = {"base": r.base + "/wiki"}
    if after:
        links["next"] = f"/wiki/api/v2/pages?cursor={token(after)}"
    return {"results": items, "_links": links}


@api("/bitbucket/rest/api/1.0/projects")
def bitbucket_server(r):
    start = r.number("start", 0)
    items, after = window(lambda n: {"id": n, "key": f"P{n}"}, start)
    return {"size": len(items), "limit": SIZE, "isLastPage": after is None, "values": items, "start": start, "nextPageStart": after}


@api("/api/v2/incremental/tickets.json")
def zendesk_export(r):
    start = r.number("start_time", 0)
    items, after = window(lambda n: {"id": n, "subject": "Help", "generated_timestamp": n}, start)
    # There is always a next page: that of what comes later.
    return {
        "tickets": items, "count": len(items), "end_of_stream": after is None, "end_time": after or COUNT,
        "next_page": r.link(start_time=after or COUNT)}


@api("/api/v2/incremental/tickets/cursor.json")
def zendesk_cursor_export(r):
    start = offset(r.query.get("cursor"))
    items, after = window(lambda n: {"id": n, "subject": "Help"}, start)
    return {
        "tickets": items, "after_url": r.link(cursor=token(after or COUNT)), "before_url": None,
        "after_cursor": token(after or COUNT), "before_cursor": None, "end_of_stream": after is None}


@api("/2010-04-01/Accounts/AC1/Calls.json")
def twilio(r):
    page = r.number("Page", 0)
    items, after = window(lambda n: {"sid": f"CA{n:032}", "status": "completed"}, page * SIZE)
    uri = f"{r.path}?PageSize={SIZE}&Page="
    return {
        "first_page_uri": uri + "0", "end": page * SIZE + len(items) - 1, "previous_page_uri": None, "calls": items,
        "uri": uri + str(page), "page_size": SIZE, "start": page * SIZE,
        "next_page_uri": f"{uri}{page + 1}&PageToken=PACA{after}" if after else None, "page": page}


@api("/v1/persons")
def pipedrive(r):
    start = r.number("start", 0)
    items, after = window(lambda n: {"id": n, "name": f"Person {n}"}, start)
    paging = {"start": start, "limit": SIZE, "more_items_in_collection": after is not None}
    if after:
        paging["next_start"] = after
    return {"success": True, "data": items or None, "additional_data": {"pagination": paging}}


@api("/api/articles")
def strapi(r):
    page = r.number("pagination[page]", 1)
    items, _ = window(lambda n: {"id": n, "attributes": {"title": f"Article {n}"}}, (page - 1) * SIZE)
    return {"data": items, "meta": {"pagination": {"page": page, "pageSize": SIZE, "pageCount": 3, "total": COUNT}}}


@api("/api/collections/posts/records")
def pocketbase(r):
    page = r.number("page", 1)
    items, _ = window(lambda n: {"id": f"r{n:014}", "collectionName": "posts"}, (page - 1) * SIZE)
    # With skipTotal=1, as its guide advises for large collections.
    return {"page": page, "perPage": SIZE, "totalItems": -1, "totalPages": -1, "items": items}


@api("/rpc/films")
def postgrest(r):
    start = r.number("offset", 0)
    items, _ = window(lambda n: {"id": n, "title": f"Film {n}"}, start)
    # With db-max-rows and without Prefer: count=exact.
    return items, {"Content-Range": f"{start}-{start + len(items) - 1}/*" if items else "*/*"}


@api("/api/v2/team/1/task")
def clickup(r):
    # Pages count from 0, and nothing says so.
    page = r.number("page", 0)
    items, after = window(lambda n: {"id": f"t{n}", "name": f"Task {n}"}, page * SIZE)
    return {"tasks": items, "last_page": after is None}


@api("/couch/_all_docs")
def couchdb(r):
    start = r.number("skip", 0)
    items, _ = window(lambda n: {"id": f"d{n}", "key": f"d{n}", "value": {"rev": "1-a"}}, start, r.number("limit", COUNT))
    return {"total_rows": COUNT, "offset": start, "rows": items}


@api("/solr/films/select")
def solr(r):
    start = r.number("start", 0)
    items, _ = window(lambda n: {"id": str(n), "name": f"Film {n}"}, start)
    return {
        "responseHeader": {"status": 0, "QTime": 1, "params": {"q": "*:*"}},
        "response": {"numFound": COUNT, "start": start, "numFoundExact": True, "docs": items}}


@api("/services/data/v58.0/query")
def salesforce(r, start=0):
    items, after = window(lambda n: {
        "attributes": {"type": "Account", "url": f"/services/data/v58.0/sobjects/Account/{n}"}, "Id": f"001{n:015}",
        "Name": f"Account {n}"}, start)
    more = {"nextRecordsUrl": f"/services/data/v58.0/query/01gD-{after}"} if after else {}
    return {"totalSize": COUNT, "done": after is None, **more, "records": items}


for number in (10, 20):
    api(f"/services/data/v58.0/query/01gD-{number}")(lambda r, start=number: salesforce(r, start))


@api("/scim/v2/Users")
def scim(r):
    start = r.number("startIndex", 1)
    items, _ = window(lambda n: {"id": f"u{n}", "userName": f"u{n}@example.com"}, start - 1)
    return {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"], "totalResults": COUNT, "itemsPerPage": len(items),
        "startIndex": start, "Resources": items}


@api("/api.xro/2.0/Invoices")
def xero(r):
    page = r.number("page", 1)
    items, _ = window(lambda n: {"InvoiceID": f"0aa6bc31-{n:04}", "Total": 1.5}, (page - 1) * SIZE)
    return {
        "Id": "af3e8d4c", "Status": "OK", "ProviderName": "P", "DateTimeUTC": "/Date(1573755037865)/",
        "pagination": {"page": page, "pageSize": SIZE, "pageCount": 3, "itemCount": COUNT}, "Invoices": items}


@api("/v1/billing/plans")
def paypal(r):
    page = r.number("page", 1)
    items, after = window(lambda n: {"id": f"P-{n}", "links": [{"href": "https://x", "rel": "self"}]}, (page - 1) * SIZE)
    links = [{"href": r.link(), "rel": "self", "method": "GET"}]
    if after:
        links.append({"href": r.link(page=page + 1), "rel": "next", "method": "GET"})
    return {"plans": items, "total_items": COUNT, "total_pages": 3, "links": links}


@api("/v2/users")
def zoom(r):
    items, after = window(lambda n: {"id": f"u{n}", "email": f"u{n}@example.com"}, offset(r.query.get("next_page_token")))
    return {
        "page_count": 3, "page_number": 1, "page_size": SIZE, "total_records": COUNT,
        "next_page_token": token(after) if after else "", "users": items}


@api("/api/now/table/incident")
def servicenow(r):
    start = r.number("sysparm_offset", 0)
    items, after = window(lambda n: {"sys_id": f"s{n}", "number": f"INC{n:07}"}, start)
    link = f'<{r.link(sysparm_offset=0)}>;rel="first"'
    if after:
        link += f',<{r.link(sysparm_offset=after)}>;rel="next",<{r.link(sysparm_offset=20)}>;rel="last"'
    return {"result": items}, {"Link": link, "X-Total-Count": str(COUNT)}


@api("/3.0/lists")
def mailchimp(r):
    start = r.number("offset", 0)
    items, _ = window(lambda n: {"id": f"l{n}", "name": f"List {n}", "_links": []}, start, r.number("count", SIZE))
    return {"lists": items, "total_items": COUNT, "_links": [{"rel": "self", "href": r.link(), "method": "GET"}]}


@api("/framework/cursor/")
def django_cursor(r):
    items, after = window(lambda n: {"id": n}, offset(r.query.get("cursor")))
    return {"next": r.link(cursor=token(after)) if after else None, "previous": None, "results": items}


@api("/json-server/posts")
def json_server(r):
    if "_page" not in r.query:
        return window(lambda n: {"id": str(n)}, 0, COUNT)[0]
    page = r.number("_page", 1)
    items, after = window(lambda n: {"id": str(n)}, (page - 1) * SIZE)
    return {
        "first": 1, "prev": page - 1 or None, "next": page + 1 if after else None, "last": 3, "pages": 3, "items": COUNT,
        "data": items}


@api("/v1/files")
def openai(r):
    start = int(r.query.get("after", "file-0")[5:])
    items, after = window(lambda n: {"id": f"file-{n}", "object": "file"}, start)
    return {
        "object": "list", "data": items, "first_id": items[0]["id"], "last_id": items[-1]["id"], "has_more": after is not None}


@api("/v1/messages/batches")
def anthropic(r):
    start = int(r.query.get("after_id", "msgbatch_0")[9:])
    items, after = window(lambda n: {"id": f"msgbatch_{n}", "type": "message_batch"}, start)
    return {"data": items, "first_id": items[0]["id"], "last_id": items[-1]["id"], "has_more": after is not None}


@api("/org/_apis/projects")
def azure(r):
    items, after = window(lambda n: {"id": f"p{n}", "name": f"Project {n}"}, offset(r.query.get("continuationToken")))
    return {"count": len(items), "value": items}, {"x-ms-continuationtoken": token(after)} if after else {}


@api("/ghost/api/content/posts/")
def ghost(r):
    page = r.number("page", 1)
    items, after = window(lambda n: {"id": f"g{n}", "title": f"Post {n}"}, (page - 1) * SIZE)
    paging = {"page": page, "limit": SIZE, "pages": 3, "total": COUNT, "next": page + 1 if after else None, "prev": None}
    return {"posts": items, "meta": {"pagination": paging}}


@api("/api_jsonrpc.php")
def json_rpc(r):
    """Zabbix: the id is the request's."""
    body = json.loads(r.body)
    if body["params"].get("auth") != "t":
        return {"jsonrpc": "2.0", "error": {"code": -32602, "message": "Invalid params.", "data": "Not authorised."}, "id": 1}
    return {"jsonrpc": "2.0", "result": [{"hostid": str(n)} for n in range(1, COUNT + 1)], "id": 1}


@api("/relay")
def graphql(r):
    """A connection whose cursor variable has a name of its own."""
    variables = json.loads(r.body).get("variables", {})
    items, after = window(lambda n: {"node": {"id": str(n)}}, offset(variables.get("from")))
    return {"data": {"books": {"edges": items, "pageInfo": {
        "hasNextPage": after is not None, "endCursor": token(after or COUNT)}}}}


@api("/dynamo")
def dynamodb(r):
    """A POST whose cursor is an object."""
    body = json.loads(r.body or b"{}")
    if body.get("TableName") != "Users" or r.method != "POST":
        raise Refused(400, {"__type": "ValidationException", "message": "TableName is missing"})
    start = int(body.get("ExclusiveStartKey", {"id": {"N": "0"}})["id"]["N"])
    items, after = window(lambda n: {"id": {"N": str(n)}, "name": {"S": f"User {n}"}}, start)
    more = {"LastEvaluatedKey": {"id": {"N": str(after)}}} if after else {}
    return {"Count": len(items), "ScannedCount": len(items), "Items": items, **more}


@api("/elastic/_search")
def elastic(r):
    """search_after, and the first page of a scroll."""
    body = json.loads(r.body or b"{}")
    start = body.get("search_after", [0])[0]
    items, after = window(lambda n: {"_id": f"b{n}", "_source": {"n": n}, "sort": [n, f"b{n}"]}, start)
    reply = {"took": 1, "timed_out": False, "hits": {"total": {"value": COUNT, "relation": "eq"}, "hits": items}}
    return {"_scroll_id": token(after or COUNT), **reply} if "scroll" in r.query else reply


@api("/elastic/_search/scroll")
def elastic_scroll(r):
    body = json.loads(r.body or b"{}")
    if set(body) != {"scroll", "scroll_id"}:
        raise Refused(400, {"error": {"type": "illegal_argument_exception", "reason": "unknown parameter"}})
    items, after = window(lambda n: {"_id": f"b{n}", "_source": {"n": n}}, offset(body["scroll_id"]))
    return {
        "_scroll_id": token(after or COUNT), "took": 1, "timed_out": False,
        "hits": {"total": {"value": COUNT, "relation": "eq"}, "hits": items}}


@api("/2/files/list_folder")
def dropbox(r):
    body = json.loads(r.body or b"{}")
    if "path" not in body:
        raise Refused(400, "Error in call to API function: missing required field 'path'")
    items, after = window(lambda n: {".tag": "file", "id": f"id:{n}", "name": f"f{n}"}, 0)
    return {"entries": items, "cursor": token(after), "has_more": True}


@api("/2/files/list_folder/continue")
def dropbox_continue(r):
    body = json.loads(r.body or b"{}")
    if set(body) != {"cursor"}:
        raise Refused(400, "Error in call to API function: unknown field")
    items, after = window(lambda n: {".tag": "file", "id": f"id:{n}", "name": f"f{n}"}, offset(body["cursor"]))
    return {"entries": items, "cursor": token(after or COUNT), "has_more": after is not None}


TASK = {"id": 7, "title": "old"}


@api("/django/tasks/7/")
def django_task(r):
    """Each path ends with a slash; without it there is nothing, as in Django without APPEND_SLASH."""
    if r.method == "DELETE":
        TASK["deleted"] = True
        raise Refused(204, "")
    TASK.update(json.loads(r.body or b"{}"))
    return TASK


@api("/couch/n1")
def couch_note(r):
    """A document that is changed and deleted by its revision alone."""
    revision = json.loads(r.body).get("_rev") if r.body else r.query.get("rev")
    if revision != "1-a":
        raise Refused(409, {"error": "conflict", "reason": "Document update conflict."})
    return {"ok": True, "id": "n1", "rev": "2-b"}


@api("/slack/chat.update")
def slack(r):
    """Says with status 200 that nothing was done."""
    return {"ok": False, "error": "message_not_found"}


class Products(Handler):
    do_PUT = do_PATCH = do_DELETE = Handler.answer


if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Products)
    print(server.server_address[1], server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
