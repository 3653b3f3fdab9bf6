"""ntlm-site.py USER PASSWORD: two teams at /teams for who proves by NTLM to be USER (pyspnego verifies it).

/away redirects to the same server under another name. Prints "port N"; each request is a line "PATH CONNECTION AUTHORIZATION".
"""

import base64
import http.server
import json
import os
import sys
import tempfile
import threading

import spnego

user, password = sys.argv[1:]
with tempfile.NamedTemporaryFile("w", delete=False) as accounts:
    accounts.write(f"TOWN:{user}:{password}\n")
os.environ["NTLM_USER_FILE"] = accounts.name


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    context = None
    is_known = False

    def reply(self, status, body, **fields):
        body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        sent = self.headers.get("Authorization", "-")
        print(self.path, self.client_address[1], sent, flush=True)
        if self.path == "/away":
            port = self.server.server_address[1]
            return self.reply(302, {}, Location=f"http://localhost:{port}/open")
        if self.path == "/open":
            return self.reply(200, [{"id": 9, "name": "Open"}])
        if not self.is_known:
            if not sent.startswith("NTLM "):
                return self.reply(401, {"message": "who are you?"}, WWW_Authenticate="NTLM")
            # The proof belongs to the connection, as MS-NTHT has it.
            if self.context is None:
                self.context = spnego.server(protocol="ntlm")
            try:
                token = self.context.step(base64.b64decode(sent[5:]))
            except spnego.exceptions.SpnegoError as error:
                self.context = None
                return self.reply(401, {"message": type(error).__name__}, WWW_Authenticate="NTLM")
            if not self.context.complete:
                return self.reply(401, {}, WWW_Authenticate="NTLM " + base64.b64encode(token).decode())
            self.is_known = True
        return self.reply(200, [{"id": 1, "name": "North"}, {"id": 2, "name": "South"}])

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
print("port", server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os.unlink(accounts.name)
