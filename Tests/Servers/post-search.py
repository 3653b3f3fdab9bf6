"""Listings that are requested by POST alone, in three styles of paging, with the document that describes them at /openapi.json.

The server is strict: it refuses another method, a body that is not JSON, members that the document does not have, required ones that are missing,
and a page larger than the document allows.
"""
import answers
import json

ORDERS = [{"id": n, "customer": f"c{n % 5}", "total": f"{n}.50", "placed_at": f"2026-01-{n % 28 + 1:02}T08:00:00Z"} for n in range(1, 24)]
PARTS = [{"sku": f"p{n:02}", "name": f"part {n}", "stock": n * 3} for n in range(1, 18)]
TICKETS = [{"ticket_id": f"t{n:02}", "subject": f"ticket {n}", "open": n % 2 == 0} for n in range(1, 13)]
INVOICES = [{"id": n, "tenant": "acme", "due": f"2026-02-{n:02}"} for n in range(1, 10)]


def of_tenant(body):
    start, limit = body.get("offset", 0), body.get("limit", 4)
    found = [invoice for invoice in INVOICES if invoice["tenant"] == body["tenant"]]
    return {"invoices": found[start:start + limit], "total": len(found)}


def numbered(body):
    size = body.get("per_page", 5)
    start = (body.get("page", 1) - 1) * size
    return {"items": ORDERS[start:start + size], "total": len(ORDERS)}


def after_offset(body):
    place = body.get("pagination", {})
    start, limit = place.get("offset", 0), place.get("limit", 5)
    return {"data": PARTS[start:start + limit], "meta": {"total": len(PARTS)}}


def after_cursor(body):
    start, limit = int(body.get("cursor") or 0), body.get("limit", 3)
    end = start + limit
    return {"results": TICKETS[start:end], "next_cursor": str(end) if end < len(TICKETS) else None}


def integer(most=None):
    return {"type": "integer", **({"maximum": most} if most else {})}


def objects(**properties):
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
# path: answer, the request's body, the reply.
SEARCHES = {
    "/orders/search": (
        numbered,
        {**objects(page=integer(), per_page=integer(7), filter={"type": "object"}, kind={"type": "string", "enum": ["sale", "return"]}),
         "required": ["filter", "kind"]},
        objects(items={"type": "array", "items": {"$ref": "#/components/schemas/Order"}}, total=integer()),
    ),
    "/parts/list": (
        after_offset,
        objects(pagination=objects(offset=integer(), limit=integer(6))),
        objects(data={"type": "array", "items": {"$ref": "#/components/schemas/Part"}}, meta=objects(total=integer())),
    ),
    "/tickets/query": (
        after_cursor,
        objects(cursor={"type": "string", "nullable": True}, limit={"type": "integer", "maximum": 5}),
        objects(results={"type": "array", "items": {"$ref": "#/components/schemas/Ticket"}}, next_cursor={"type": "string", "nullable": True}),
    ),
    "/invoices/search": (
        of_tenant,
        {**objects(tenant=TEXT, offset=integer(), limit=integer(4)), "required": ["tenant"]},
        objects(invoices={"type": "array", "items": {"$ref": "#/components/schemas/Invoice"}}, total=integer()),
    ),
}
DOCUMENT = {
    "openapi": "3.0.3", "info": {"title": "Searches", "version": "1"}, "servers": [{"url": "/api"}],
    "paths": {
        path: {"post": {
            "operationId": "search" + path.split("/")[1].title(), "summary": "Search " + path.split("/")[1],
            "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
            "responses": {"200": {"description": "A page", "content": {"application/json": {"schema": reply}}}},
        }}
        for path, (_, request, reply) in SEARCHES.items()
    },
    "components": {"schemas": {
        "Order": objects(id=integer(), customer=TEXT, total={"type": "string", "format": "decimal"}, placed_at={"type": "string", "format": "date-time"}),
        "Invoice": objects(id=integer(), tenant=TEXT, due={"type": "string", "format": "date"}),
        "Part": objects(sku=TEXT, name=TEXT, stock=integer()),
        "Ticket": objects(ticket_id=TEXT, subject=TEXT, open={"type": "boolean"}),
    }},
}


def fault(schema, value, name="the body"):
    """Says what the schema does not allow."""
    kinds = {"object": dict, "integer": int, "string": str}
    if value is None and schema.get("nullable"):
        return None
    if not isinstance(value, kinds[schema["type"]]):
        return f"{name} is not of the type {schema['type']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{name} is {value}"
    if schema["type"] == "integer" and not 0 <= value <= schema.get("maximum", value):
        return f"{name} is {value}"
    properties = schema.get("properties")
    if properties is None:
        return None
    missing = [member for member in schema.get("required", []) if member not in value]
    unknown = [member for member in value if member not in properties]
    if missing or unknown:
        return f"missing {missing}, unknown {unknown}"
    return next(filter(None, (fault(properties[member], value[member], member) for member in value)), None)


def answer(path, query):
    method, headers, text = answers.asked()
    if path == "/openapi.json":
        return 200, DOCUMENT
    if path == "/changes":
        # All items, and with a token in the body those that have changed since.
        if json.loads(text).get("state", {}).get("token") == "t1":
            return 200, {"items": [{"id": 2}], "gone": [{"id": 1}], "token": "t2"}
        return 200, {"items": [{"id": 1}, {"id": 2}], "token": "t1"}
    search = SEARCHES.get(path.removeprefix("/api"))
    if search is None:
        return 404, {"error": "no such search"}
    if method != "POST" or headers.get("Content-Type") != "application/json":
        return 405, {"error": "POST JSON"}
    body = json.loads(text)
    if words := fault(search[1], body):
        return 400, {"error": words}
    with open("asked", "a") as file:
        file.write(path + " " + json.dumps(body, sort_keys=True) + "\n")
    return 200, search[0](body)


answers.serve(answer)
