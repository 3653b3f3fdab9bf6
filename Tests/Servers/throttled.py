"""Cities, whose first request of each three is answered 429, to come back after a second; streets break."""
import answers

asked = 0


def answer(path, query):
    global asked
    if path == "/streets": return (500, {"error": "broken"})
    asked += 1
    if asked % 3 == 1: return (429, {"Retry-After": "1"}, b"{}")
    return (200, [{"id": 1, "name": "n"}])

answers.serve(answer)
