import http.server, json, urllib.parse
rows, walks = list(range(1, 101)), [0]
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments): pass
    def do_GET(self):
        page = int(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).get("page", ["1"])[0])
        if page == 1: walks[0] += 1
        # The pages of the second sync are sorted by a value that several records share: 80 comes twice, and 81 does not.
        listed = list(rows) if walks[0] == 1 else [row for row in rows if row != 81]
        if walks[0] in (2, 3): listed.insert(80, 80)
        body = json.dumps({
            "items": [{"id": row} for row in listed[(page - 1) * 20:page * 20]], "total": len(listed)}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
