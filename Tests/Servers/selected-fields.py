"""People and their teams, of whom it sends only what a request selects. selected-fields.py

/NOTATION takes `fields` (names, dots, parentheses or braces), and an unknown name is refused. /graphql takes a query over
GET, with one selection set for `people`. The file `asked` gets a line for each selection.
"""
import answers
import re

people = [
    {"id": number, "name": f"person {number}", "secret": "x" * 1000, "mail": {"work": f"p{number}@example", "home": "no"},
     "team": {"id": 7, "title": "seven", "members": [1, 2, 3]}} for number in (1, 2, 3)]


def selection(words, closing=None):
    """The tree of a selection: {name: tree}."""
    tree, last = {}, None
    while words:
        word = words.pop(0)
        if word in ")}": return tree
        if word in "({": tree[last] = selection(words)
        else:
            home = tree
            *above, last = word.split(".")
            for name in above: home = home.setdefault(name, {})
            home[last] = {}
    return tree


def pick(value, tree):
    if not tree: return value
    return {name: pick(value[name], inner) for name, inner in tree.items()}


def answer(path, query):
    text = query.get("fields", "")
    if path == "/graphql":
        found = re.fullmatch(r"\{ people \{ (.*) \} \}", query["query"])
        if not found: return 200, {"errors": [{"message": "syntax"}]}
        text = found[1]
    with open("asked", "a") as file: file.write(text + "\n")
    try:
        chosen = [pick(person, selection(re.findall(r"[\w.]+|[(){}]", text))) for person in people]
    except KeyError as error:
        return 400, {"message": f"no field {error}"}
    return 200, {"data": {"people": chosen}} if path == "/graphql" else chosen


answers.serve(answer)
