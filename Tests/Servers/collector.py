"""A collector of OTLP metrics over HTTP in JSON: collector.py [silent]

It accepts only what opentelemetry-proto's ExportMetricsServiceRequest accepts, appends each request to the file
`requests`, one a line with its path and header fields, and with `silent` never answers.
"""
import http.server
import json
import sys
import time

KINDS = {"gauge": {"dataPoints"}, "sum": {"dataPoints", "aggregationTemporality", "isMonotonic"}}


def attributes(values):
    for value in values:
        assert set(value) == {"key", "value"} and set(value["value"]) == {"stringValue"}, value
        assert isinstance(value["key"], str) and isinstance(value["value"]["stringValue"], str), value


def check(request):
    """Names, types and enumerations of metrics.proto; 64-bit integers are text in JSON."""
    try:
        from google.protobuf import json_format
        from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
        json_format.ParseDict(request, metrics_service_pb2.ExportMetricsServiceRequest())
    except ImportError: pass
    assert set(request) == {"resourceMetrics"}
    for resource in request["resourceMetrics"]:
        assert set(resource) == {"resource", "scopeMetrics"}
        attributes(resource["resource"]["attributes"])
        for scope in resource["scopeMetrics"]:
            assert set(scope) == {"scope", "metrics"} and set(scope["scope"]) == {"name", "version"}
            for metric in scope["metrics"]:
                kind = (set(metric) - {"name", "description"}).pop()
                assert set(metric[kind]) == KINDS[kind], metric
                if kind == "sum": assert metric["sum"]["aggregationTemporality"] == 2 and metric["sum"]["isMonotonic"] is True
                for point in metric[kind]["dataPoints"]:
                    attributes(point["attributes"])
                    times = {"timeUnixNano", "startTimeUnixNano"} if kind == "sum" else {"timeUnixNano"}
                    assert set(point) == {"attributes", "asDouble"} | times, point
                    assert all(isinstance(point[name], str) and len(point[name]) == 19 for name in times), point
                    assert isinstance(point["asDouble"], (int, float)), point


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments): pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request = json.loads(body)
            check(request)
            status, fault = 200, None
        except Exception as error: status, fault, request = 400, repr(error), None
        with open("requests", "a") as file:
            line = {"path": self.path, "headers": dict(self.headers), "request": request, "fault": fault}
            file.write(json.dumps(line) + "\n")
        if "silent" in sys.argv: time.sleep(60)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
