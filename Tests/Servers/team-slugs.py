"""Users who are listed by the slug of their team, which may be null."""
import answers
import os

users = [(10, "red"), (11, "red"), (20, "blue"), (30, "")]
def answer(path, query):
    open("asked", "w").close()
    if path == "/teams":
        second = None if os.path.exists("slug") else "blue"
        return 200, [{"id": 1, "slug": "red"}, {"id": 2, "slug": second}, {"id": 3, "slug": ""}]
    wanted = query.get("team")
    return 200, [{"id": id} for id, team in users if wanted is None or team == wanted]

answers.serve(answer)
