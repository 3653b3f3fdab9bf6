"""Serves the files of a folder, in pieces of a random size each time: pieces.py FOLDER."""
import functools
import http.server
import random
import sys
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".ndjson": "application/x-ndjson", ".csv": "text/csv", ".xml": "text/xml", ".wsdl": "text/xml"}

    def copyfile(self, source, outputfile):
        while piece := source.read(random.choice([1, 100, 10_000, 70_000, 300_000])):
            outputfile.write(piece)
            outputfile.flush()
            time.sleep(random.choice([0, 0, 0.001, 0.01]))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


handler = functools.partial(Handler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print("port", server.server_port, flush=True)
server.serve_forever()
