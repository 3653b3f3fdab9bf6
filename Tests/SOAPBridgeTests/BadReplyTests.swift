import BridgeKit
import TestSupport
import Testing

@testable import SOAPBridge

/// Against a server that answers as badly as asked: the path of the endpoint says how.
@Suite struct BadReplyTests {
    private let server: LoopbackServer

    init() async throws { server = try await LoopbackServer.python(Self.script) }

    private static let script = #"""
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
                data = open('s.wsdl', 'rb').read() if self.path == '/s.wsdl' else b''
                self.send_response(200 if data else 404)
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
        """#

    private func walk(_ name: String) throws -> Walk {
        let wsdl = try server.folder.write(Samples.wsdl(schemas: ""), to: "s.wsdl")
        return try Walk.run(
            ["wsdl": .text(wsdl), "endpoint": .text("\(server.url)/\(name)")],
            [
                "operation": "List", "records": "ListResponse/items/item", "input": ["offset": 0],
                "paging": ["style": "none", "total": "ListResponse/total"],
            ])
    }

    @Test func `a WSDL from the disk and a good reply make records`() throws {
        let walk = try walk("good")
        #expect(walk.records == [#"{"id":0,"name":"n"}"#, #"{"id":1,"name":"n"}"#])
        #expect(walk.pages.last?.isComplete == true)
        #expect(walk.pages.last?.location == "\(server.url)/good")
    }

    @Test(arguments: [
        ("malformed", BridgeError.Code.malformed, "at line 2 (after record 1)"),
        ("halfway", .malformed, "not well-formed"),
        ("trailing", .malformed, "Extra content"),
        ("truncated", .malformed, "bytes"),
        ("html200", .malformed, "a web page, not XML"),
        ("json", .malformed, "application/json, not XML"),
        ("html500", .remote, "500"),
        ("html401", .authentication, "401"),
        ("html404", .notFound, "404"),
        ("mtom", .malformed, "no part with an envelope"),
        ("doctype", .malformed, "DOCTYPE"),
        ("xxe", .malformed, "DOCTYPE"),
        ("fault401", .authentication, "401"),
        ("xml500", .remote, "500"),
        ("empty", .malformed, "is empty"),
        ("wsdl", .malformed, "root element is <definitions>"),
    ])
    func `a bad reply is an error in words`(name: String, code: BridgeError.Code, words: String) throws {
        let error = try bridgeError { _ = try walk(name) }
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(words), "\(error)")
        #expect(error.location == "\(server.url)/\(name)")
        if error.code != .unsupported, name != "truncated", name != "fault401", name != "xml500",
            !name.hasPrefix("html")
        {
            #expect(error.message.contains("Product"), "\(error)")
        }
    }

    @Test func `a web page's title and a fault's words are passed on`() throws {
        #expect(try bridgeError { _ = try walk("html404") }.remote == "Gone")
        #expect(try bridgeError { _ = try walk("fault401") }.remote == "Server: busy")
        #expect(try bridgeError { _ = try walk("json") }.remote == #"{"error": "no"}"#)
    }

    @Test func `a fault is worth another try only when the server says that it is unavailable`() throws {
        for name in ["fault200", "fault500"] {
            let error = try bridgeError { _ = try walk(name) }
            #expect(error.code == .remote)
            #expect(error.remote == "Server: busy")
            #expect(!error.isRetryable)
        }
        let unavailable = try bridgeError { _ = try walk("fault503") }
        #expect(unavailable.isRetryable)
        #expect(unavailable.retryAfterMilliseconds == 7000)
        #expect(try bridgeError { _ = try walk("html503") }.isRetryable)
    }

    @Test func `an external subset is not asked for`() throws {
        _ = try bridgeError { _ = try walk("xxe") }
        #expect(!server.log.contains("stolen"))
        #expect(server.log.contains("/xxe"))
    }

    @Test(arguments: [
        ("ftp://x/y", "http(s) URL"), ("relative.wsdl", "absolute path"), ("http://u:secret@h/x", "password"),
        ("/nonexistent/x.wsdl", "can't be opened"), ("/tmp", "not a regular file"), ("http://127.0.0.1:1/x", "connect"),
    ])
    func `a WSDL that can't be had is said`(wsdl: String, words: String) throws {
        let error = try bridgeError {
            _ = try SOAPBridge(options: (["wsdl": .text(wsdl)] as ConfigValue).options, context: BridgeContext())
                .check()
        }
        #expect(error.message.contains(words), "\(error)")
        #expect(!"\(error)".contains("secret"))
    }
}
