"""Styles of the zoo that hand out a value in a header field and want it back with the next request."""
import itertools

NUMBERS = itertools.count(1)


def refused_session(r):
    """Refuses each request and hands out another value each time, or one with `fixed`; the body quotes what came and what is new."""
    name = r.query.get("name", "X-Zoo-Session-Id")
    new = f"s3cret-ticket-{1 if 'fixed' in r.query else next(NUMBERS)}"
    return {"error": f"{r.headers.get(name)} is over, take {new}"}, {"status": r.number("status", 409), name: new}


def rotating_session(r):
    """Hands out another value with each reply."""
    return [{"id": 1}], {"X-Zoo-Session-Id": f"s3cret-rotated-{next(NUMBERS)}"}
