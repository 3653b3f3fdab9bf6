"""Serves the files of a folder, in pieces of a random size each time: pieces.py FOLDER."""
import http.server
import pathlib
import random
import sys
import time

TYPES = {".ndjson": "application/x-ndjson", ".csv": "text/csv", ".xml": "text/xml", ".wsdl": "text/xml"}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = pathlib.Path(sys.argv[1]) / self.path.partition("?")[0].lstrip("/")
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", TYPES[path.suffix])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        while body:
            size = random.choice([1, 100, 10_000, 70_000, 300_000])
            self.wfile.write(body[:size])
            self.wfile.flush()
            body = body[size:]
            time.sleep(random.choice([0, 0, 0.001, 0.01]))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
