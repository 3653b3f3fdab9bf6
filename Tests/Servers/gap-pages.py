import http.server, json, urllib.parse
scans = {}
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments): pass
    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        cursor = int(urllib.parse.parse_qs(url.query).get("cursor", ["0"])[0])
        if cursor == 0: scans[url.path] = scans.get(url.path, 0) + 1
        scan = scans[url.path]
        # The second scan has a gap; in the third, a record is gone.
        rows = [{"id": row} for row in range(1, 7) if scan < 3 or row != 6]
        reply = {"items": rows[cursor:cursor + 2], "next": str(cursor + 2) if cursor < 4 else None, "total": len(rows)}
        if url.path == "/totals" and scan == 2 and cursor: reply = {"items": [], "next": None, "total": len(rows)}
        if url.path == "/shards":
            reply = {"items": rows, "_shards": {"total": 2, "failed": 0}}
            if scan == 2: reply = {"items": rows[:3], "timed_out": True, "_shards": {"total": 2, "failed": 1}}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
