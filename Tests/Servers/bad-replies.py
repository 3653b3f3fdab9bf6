import http.server, socketserver, os
E = 'http://schemas.xmlsoap.org/soap/envelope/'
GOOD = '<s:Envelope xmlns:s="%s"><s:Body><ListResponse xmlns="urn:s"><total>2</total><items>%s</items></ListResponse></s:Body></s:Envelope>'
ITEMS = ''.join('<item><id>%d</id><name>n</name></item>' % i for i in range(2))
FAULT = '<s:Envelope xmlns:s="%s"><s:Body><s:Fault><faultcode>s:Server</faultcode><faultstring>busy</faultstring></s:Fault></s:Body></s:Envelope>' % E
XML = 'text/xml; charset=utf-8'
REPLIES = {
    'good': (200, XML, GOOD % (E, ITEMS)),
    'malformed': (200, XML, GOOD % (E, '<item><id>1</id></item>\n<item><id>1</name></item>')),
    'halfway': (200, XML, (GOOD % (E, ITEMS))[:-40]),
    'trailing': (200, XML, GOOD % (E, ITEMS) + '<x/>'),
    'html200': (200, 'text/html', '<html><head><title>Log in</title></head></html>'),
    'html500': (500, 'text/html', '<html><title>Broken</title></html>'),
    'html401': (401, 'text/html', '<html><title>Who?</title></html>'),
    'html404': (404, 'text/html', '<html><title>Gone</title></html>'),
    'html503': (503, 'text/html', '<html><title>Later</title></html>'),
    'json': (200, 'application/json', '{"error": "no"}'),
    'odd': (200, 'text/html; charset=utf-8', GOOD % (E, '<item><id/><name>n</name><strange>1</strange></item>' * 2)),
    'parts': (200, 'multipart/related; boundary="q"; type="application/xop+xml"', '--q\r\nContent-ID: <r>\r\n\r\n' + GOOD % (E,
        '<item><image><Include xmlns="http://www.w3.org/2004/08/xop/include" href="cid:i"/></image></item>' * 2) +
        '\r\n--q\r\nContent-ID: <i>\r\n\r\nabc\r\n--q--'),
    'mtom': (200, 'multipart/related; boundary=x', '--x\r\n'),
    'doctype': (200, XML, '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "cc">]>' + GOOD % (E, '&b;')),
    'xxe': (200, XML, '<!DOCTYPE a SYSTEM "http://127.0.0.1:@PORT@/stolen">' + GOOD % (E, '')),
    'fault200': (200, XML, FAULT),
    'fault500': (500, XML, FAULT),
    'fault503': (503, XML, FAULT),
    'fault401': (401, XML, FAULT),
    'xml500': (500, XML, '<oops>no fault</oops>'),
    'empty': (200, XML, ''),
    'wsdl': (200, XML, '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/"/>'),
}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): print('request', self.path, flush=True)
    def do_GET(self):
        data = open('s.wsdl', 'rb').read() if self.path.split('?')[0] == '/s.wsdl' else b''
        tag = '"%d"' % len(data)
        if data and self.headers['If-None-Match'] == tag:
            print('not modified', flush=True)
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(200 if data else 404)
        self.send_header('ETag', tag)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_POST(self):
        self.rfile.read(int(self.headers['Content-Length']))
        name = self.path[1:]
        if name == 'truncated':
            self.send_response(200)
            self.send_header('Content-Type', XML)
            self.send_header('Content-Length', '100000')
            self.end_headers()
            self.wfile.write((GOOD % (E, ITEMS)).encode()[:-60])
            self.wfile.flush()
            self.connection.shutdown(2)
            self.close_connection = True
            return
        status, kind, text = REPLIES[name]
        data = text.replace('@PORT@', str(self.server.server_address[1])).encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(data)))
        if status == 503: self.send_header('Retry-After', '7')
        self.end_headers()
        self.wfile.write(data)
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer): daemon_threads = True
server = Server(('127.0.0.1', 0), Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
