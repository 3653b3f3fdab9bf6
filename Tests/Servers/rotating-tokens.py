"""Teams and their users for who has a token: rotating-tokens.py TEAMS USES REFRESH_TOKEN...

Each use of a refresh token replaces it, and ends the access token of before; a refresh token that is used again revokes all
tokens of its login, as with Auth0 or Okta. An access token is good for USES requests. Each
REFRESH_TOKEN has a login of its own.

In the folder: `tokens` gets a line for each request for a token, `issued` one for each token. While there is a file `hold`, an
answer with tokens is not sent. With a file `kept` a refresh token is not replaced, and the answer has the content of the file
as the refresh token.
"""
import answers
import os
import sys
import threading
import time

teams, uses = int(sys.argv[1]), int(sys.argv[2])
lock = threading.Lock()
# A refresh token's login, and whether it was used; a login's access token, and how often that may be used.
refresh = {token: [token, False] for token in sys.argv[3:]}
access = {token: None for token in sys.argv[3:]}
left = {}

def note(file, line):
    with open(file, "a") as log: log.write(line + "\n")
def new(kind):
    token = kind + "-" + os.urandom(12).hex()
    note("issued", token)
    return token
def grant(query):
    token = query.get("refresh_token", "")
    with lock:
        login, used = refresh.get(token, (None, False))
        if login not in access:
            note("tokens", "unknown")
            return 400, {"error": "invalid_grant"}
        if used:
            note("tokens", "reused")
            del access[login]
            return 400, {"error": "invalid_grant", "error_description": "the token was used before"}
        if os.path.exists("kept"):
            with open("kept") as file: next = file.read()
        else:
            refresh[token][1] = True
            next = new("refresh")
            refresh[next] = [login, False]
        access[login] = new("access")
        left[access[login]] = uses
        note("tokens", "granted")
        reply = {"access_token": access[login], "token_type": "bearer", "expires_in": 3600, "refresh_token": next}
    while os.path.exists("hold"): time.sleep(0.01)
    return 200, reply
def answer(path, query):
    if path == "/token": return grant(query)
    with lock:
        token = query["@authorization"].removeprefix("Bearer ")
        if token not in access.values() or left[token] == 0: return 401, {"message": "the token has expired"}
        left[token] -= 1
    if path == "/teams": return 200, [{"id": id} for id in range(1, teams + 1)]
    if path != "/users": return 200, []
    time.sleep(0.01)
    team = int(query["team"])
    return 200, [{"id": 2 * team, "name": "first"}, {"id": 2 * team + 1, "name": "second"}]

answers.serve(answer)
