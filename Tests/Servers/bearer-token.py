"""One record for who has the token: bearer-token.py TOKEN"""
import answers
import sys
import time

def answer(path, query):
    # So long there is a bridge's process to look at.
    if path == "/apart": time.sleep(0.5)
    known = query["@authorization"] == "Bearer " + sys.argv[1]
    return (200, [{"id": 1, "text": "known"}]) if known else (401, {"message": "unknown"})

answers.serve(answer)
