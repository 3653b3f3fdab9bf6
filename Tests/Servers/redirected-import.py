"""A WSDL whose import redirects to another host."""
import http.server

WSDL = """<definitions targetNamespace="urn:r" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:r"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <types><xs:schema><xs:import namespace="urn:r" schemaLocation="moved.xsd"/></xs:schema></types>
  <message name="I"><part name="p" element="t:Ask"/></message>
  <portType name="P"><operation name="Ask"><input message="t:I"/><output message="t:I"/></operation></portType>
  <binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/><operation name="Ask">
  <soap:operation soapAction=""/><input><soap:body use="literal"/></input><output><soap:body use="literal"/></output>
  </operation></binding><service name="S"><port name="A" binding="t:B"><soap:address location="http://127.0.0.1:1/"/>
  </port></service></definitions>"""
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        with open("asked", "a") as log: log.write(self.headers["Host"] + self.path + "\n")
        if self.path == "/moved.xsd":
            self.send_response(302)
            self.send_header("Location", "http://localhost:%d/real.xsd" % server.server_address[1])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        body = WSDL if "wsdl" in self.path else \
            "<xs:schema targetNamespace='urn:r' xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='Ask' type='xs:int'/></xs:schema>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
