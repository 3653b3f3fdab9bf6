import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): pass
    def put(self, text):
        data = text.encode()
        self.wfile.write(b'%x\r\n' % len(data) + data + b'\r\n')
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        self.send_response(200)
        self.send_header('Content-Type', 'text/xml; charset=utf-8')
        self.send_header('Transfer-Encoding', 'chunked')
        self.end_headers()
        self.put('<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
                 '<ListSubdivisionsResponse xmlns="urn:gazetteer"><total>30000</total><subdivisions>')
        for start in range(0, 30000, 100):
            self.put(''.join('<subdivision><code>%d</code><name>%s</name><type>t</type><countryCode>XX</countryCode>'
                             '</subdivision>' % (i, 'lorem ipsum &amp; ' * 60) for i in range(start, start + 100)))
        self.put('</subdivisions></ListSubdivisionsResponse></s:Body></s:Envelope>')
        self.wfile.write(b'0\r\n\r\n')
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
