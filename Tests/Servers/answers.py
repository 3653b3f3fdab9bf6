"""A small HTTP server whose replies another script makes.

`answer(path, query)` gives a status and what becomes JSON, or a status, header fields and bytes. Among the query is
`@authorization`, the header field, and the fields of a form that is posted; `asked()` gives the method, the header fields and the body. The scripts that use it run in a folder of the test's, where they look for files
that change what they answer, and note there what they were asked.
"""
import http.server
import json
import threading
import urllib.parse

_server = None
_request = threading.local()


def url():
    """The root of this server."""
    return "http://127.0.0.1:%d" % _server.server_port


def asked():
    """The method, the header fields and the body of the request that is being answered."""
    return _request.method, _request.headers, _request.body


def serve(answer, changes=False):
    """Serves; `changes` also lets PATCH, PUT and DELETE be answered."""
    global _server

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments): pass

        def do_POST(self):
            self.reply(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

        def do_GET(self): self.reply("")

        def reply(self, form):
            url = urllib.parse.urlparse(self.path)
            fields = urllib.parse.parse_qs(url.query + "&" + form, keep_blank_values=True)
            query = {name: values[0] for name, values in fields.items()}
            query["@authorization"] = self.headers.get("Authorization", "")
            _request.method, _request.headers, _request.body = self.command, self.headers, form
            reply = answer(url.path, query)
            status, fields, body = reply if len(reply) == 3 else (reply[0], {}, json.dumps(reply[1]).encode())
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **fields}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    if changes: Handler.do_PATCH = Handler.do_PUT = Handler.do_DELETE = Handler.do_POST
    _server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print("port", _server.server_port, flush=True)
    _server.serve_forever()
