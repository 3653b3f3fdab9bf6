"""An API whose operations require different credentials, with the document that says so at /openapi.json.

It refuses a request without the credentials of its operation, and one with any of another operation, so that none is sent where it does not belong.
"""
import answers
import base64

KEY, APP, PARTNER, CLIENT, TOKEN = "key-of-the-shop", "app-7", "partner-key", "client:client-secret", "token-of-oauth"
# path: the header fields that it must have, the security in the document, the name of its schema.
LISTS = {
    "/pets": ({"x-key": KEY}, None, "Pet"),
    "/toys": ({"x-key": KEY}, [{"key": []}], "Toy"),
    "/orders": ({"authorization": f"Bearer {TOKEN}"}, [{"shop_oauth": ["read"]}], "Order"),
    "/orders/{id}/lines": ({"authorization": f"Bearer {TOKEN}"}, [{"shop_oauth": ["read", "lines"]}], "Line"),
    "/deals": ({"x-partner": PARTNER, "x-app": APP}, [{"partnerKey": [], "app": []}], "Deal"),
    "/news": ({}, [], "News"),
    "/visits": ({"x-key": KEY}, [{}, {"key": []}], "Visit"),
}
SECRETS = ("authorization", "x-key", "x-partner", "x-app", "cookie")


def operation(path, security, schema):
    return {
        **({} if security is None else {"security": security}),
        **({"parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}]} if "{" in path else {}),
        "responses": {"200": {"description": "All", "content": {"application/json": {"schema": {
            "type": "array", "items": {"$ref": "#/components/schemas/" + schema}}}}}},
    }


def header(name):
    return {"type": "apiKey", "in": "header", "name": name}


DOCUMENT = {
    "openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "/v1"}], "security": [{"key": []}],
    "paths": {
        **{path: {"get": operation(path, security, schema)} for path, (_, security, schema) in LISTS.items()},
        "/orders/{id}": {"get": {"security": [{"shop_oauth": []}], "responses": {"200": {"description": "One", "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}}}},
    },
    "components": {
        "schemas": {
            schema: {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
            for _, _, schema in LISTS.values()
        },
        "securitySchemes": {
            "key": header("X-Key"), "partnerKey": header("X-Partner"), "app": header("X-App"),
            "shop_oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "/v1/token", "scopes": {"read": "", "lines": ""}}}},
        },
    },
}


def token(headers, form):
    basic = "Basic " + base64.b64encode(CLIENT.encode()).decode()
    if headers.get("Authorization") != basic and "client_secret=client-secret" not in form:
        return 401, {"error": "invalid_client"}
    return 200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}


def answer(path, query):
    method, headers, form = answers.asked()
    if path == "/openapi.json":
        return 200, DOCUMENT
    if (method, path) == ("POST", "/v1/token"):
        return token(headers, form)
    parts = path.removeprefix("/v1").split("/")
    plain = "/" + parts[1] + ("/{id}/lines" if len(parts) == 4 and parts[3] == "lines" else "")
    if method != "GET" or plain not in LISTS:
        return 404, {"error": "no such list"}
    needed = LISTS[plain][0]
    shown = {name: headers[name] for name in SECRETS if name in headers}
    if shown != needed:
        return 401, {"error": f"needed {sorted(needed)}, got {sorted(shown)}"}
    start = 10 * int(parts[2]) if len(parts) == 4 else 0
    return 200, [{"id": start + number, "name": f"{parts[-1]} {start + number}"} for number in (1, 2, 3)]


answers.serve(answer)
