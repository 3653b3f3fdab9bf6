"""An OData delta with a tombstone that names no key until the file `mended` exists."""
import answers
import os

def answer(path, query):
    if query.get("delta") == "1":
        id = "Users(2)" if os.path.exists("mended") else "nonsense"
        gone = {"@odata.context": "$metadata#Users/$deletedEntity", "id": id, "reason": "deleted"}
        return 200, {"value": [gone], "@odata.deltaLink": answers.url() + "/users?delta=2"}
    if query.get("delta") == "2": return 200, {"value": [], "@odata.deltaLink": answers.url() + "/users?delta=2"}
    return 200, {"value": [{"id": 1}, {"id": 2}], "@odata.deltaLink": answers.url() + "/users?delta=1"}

answers.serve(answer)
