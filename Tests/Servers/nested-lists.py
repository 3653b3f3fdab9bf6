"""Posts with the beginning of their comments nested, and what is beside it: a total, and a link with the token of the request.

Each page has two posts. The last page has the first post once more, with another link.
"""
import answers


def answer(path, query):
    token = query["@authorization"].removeprefix("Bearer ")

    def post(number, total, *comments, after=""):
        link = f"/comments?post={number}&after={after}&token={token}"
        return {"id": number, "comments": {"total_count": total, "next": link, "data": list(comments)}}

    reply = {"id": 9, "text": "why?"}
    pages = {
        "1": [post(1, 57, {"id": 7, "text": "yes", "replies": {"count": 3, "data": [reply]}}, {"id": 8, "text": "no"}),
              {"id": 2, "comments": None}],
        "2": [post(3, 0), {"id": 4}],
        "3": [post(1, "57", {"id": 7, "text": "yes"}, {"id": 8, "text": "no"}, after="8")]}
    return 200, pages.get(query.get("page", "1"), [])


answers.serve(answer)
