"""Changes since a token, which is in the reply, or in an OData delta link. The file `rows` has the ids of the rows, and the file
`expired` the status and the code of the reply to a token that is no longer known."""
import answers
import json
import os

def answer(path, query):
    rows = [{"id": id} for id in (json.load(open("rows")) if os.path.exists("rows") else [1, 2, 3])]
    if "sync_token" in query:
        if os.path.exists("expired"):
            status, code = open("expired").read().split()
            return int(status), {"error": {"code": code, "message": "start again"}}
        rows = []
    if path == "/odata": return 200, {"value": rows, "@odata.deltaLink": answers.url() + "/odata?sync_token=1"}
    return 200, {"items": rows, "sync_token": "t1"}

answers.serve(answer)
