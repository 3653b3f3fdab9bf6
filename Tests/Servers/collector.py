"""A collector of OTLP metrics and traces over HTTP in JSON: collector.py [silent]

It accepts only what opentelemetry-proto's ExportMetricsServiceRequest and ExportTraceServiceRequest accept, appends each request to the file
`requests`, one a line with its path and header fields, and with `silent` never answers.
"""
import base64
import copy
import http.server
import json
import sys
import time

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

KINDS = {
    "gauge": {"dataPoints"},
    "histogram": {"dataPoints", "aggregationTemporality"},
    "sum": {"dataPoints", "aggregationTemporality", "isMonotonic"},
}


def attributes(values, kinds=("stringValue",)):
    for value in values:
        assert set(value) == {"key", "value"} and len(value["value"]) == 1, value
        kind, content = next(iter(value["value"].items()))
        assert kind in kinds and isinstance(value["key"], str) and isinstance(content, str), value


def check(request):
    """Names, types and enumerations of metrics.proto; 64-bit integers are text in JSON."""
    json_format.ParseDict(request, metrics_service_pb2.ExportMetricsServiceRequest())
    assert set(request) == {"resourceMetrics"}
    for resource in request["resourceMetrics"]:
        assert set(resource) == {"resource", "scopeMetrics"}
        attributes(resource["resource"]["attributes"])
        for scope in resource["scopeMetrics"]:
            assert set(scope) == {"scope", "metrics"} and set(scope["scope"]) == {"name", "version"}
            for metric in scope["metrics"]:
                kind = (set(metric) - {"name", "description", "unit"}).pop()
                assert set(metric[kind]) == KINDS[kind], metric
                if kind == "sum": assert metric["sum"]["aggregationTemporality"] == 2 and metric["sum"]["isMonotonic"] is True
                for point in metric[kind]["dataPoints"]:
                    attributes(point["attributes"])
                    if kind == "histogram":
                        assert sum(map(int, point["bucketCounts"])) == int(point["count"]) and point["sum"] > 0, point
                        assert len(point["bucketCounts"]) == len(point["explicitBounds"]) + 1, point
                        continue
                    times = {"timeUnixNano", "startTimeUnixNano"} if kind == "sum" else {"timeUnixNano"}
                    assert set(point) == {"attributes", "asDouble"} | times, point
                    assert all(isinstance(point[name], str) and len(point[name]) == 19 for name in times), point
                    assert isinstance(point["asDouble"], (int, float)), point


def check_traces(request):
    """The same of trace.proto; identifiers are hexadecimal in OTLP's JSON, and base64 in that of protobuf."""
    plain = copy.deepcopy(request)
    for resource in plain["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span: span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    json_format.ParseDict(plain, trace_service_pb2.ExportTraceServiceRequest())
    assert set(request) == {"resourceSpans"}
    for resource in request["resourceSpans"]:
        assert set(resource) == {"resource", "scopeSpans"}
        attributes(resource["resource"]["attributes"])
        for scope in resource["scopeSpans"]:
            assert set(scope) == {"scope", "spans"} and set(scope["scope"]) == {"name", "version"}
            for span in scope["spans"]:
                needed = {"traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes"}
                assert needed <= set(span) <= needed | {"parentSpanId", "status"}, span
                assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16, span
                assert span["kind"] in (1, 3) and span.get("status", {"code": 2})["code"] == 2, span
                assert len(span["startTimeUnixNano"]) == 19 and span["startTimeUnixNano"] <= span["endTimeUnixNano"], span
                attributes(span["attributes"], ("stringValue", "intValue"))


CHECKS = {"/v1/metrics": check, "/v1/traces": check_traces}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments): pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request = json.loads(body)
            CHECKS[self.path](request)
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
