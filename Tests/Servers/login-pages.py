"""Redirects to a login page."""
import answers

PAGE = b'<!doctype html><title>Sign in</title><form><input name="p" type="password"></form>'
def answer(path, query):
    if path == "/docs": return 200, {"Content-Type": "text/html"}, b"<!doctype html><title>Docs</title>"
    if path in ("/", "/api"): return 302, {"Location": "/login?next=" + path}, b""
    if path == "/moved": return 302, {"Location": "/docs"}, b""
    if path.startswith("/login"): return 200, {"Content-Type": "text/html"}, PAGE
    return 200, {"ok": True}

answers.serve(answer)
