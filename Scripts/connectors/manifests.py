"""A connector's manifest as Airbyte's runtime reads it: inputs with values, and one rule for each listing."""
import datetime
import inspect
import json
import os
import pathlib
import re

import jinja2
import yaml
from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource
from airbyte_cdk.sources.declarative.interpolation.interpolated_string import InterpolatedString
from airbyte_cdk.sources.declarative.parsers.manifest_reference_resolver import ManifestReferenceResolver

JINJA = jinja2.Environment()
PER_LISTING = re.compile(r"stream_slice|stream_partition|stream_interval|stream_state|next_page_token|now_utc|today_utc")


def load(folder):
    """The manifest with plain http, because both programs go through a proxy, and with pages that are small."""
    path = next(pathlib.Path(folder).rglob("manifest.yaml"))
    manifest = yaml.load(path.read_text(), yaml.SafeLoader)
    for file in path.parent.glob("spec.*"):
        manifest.setdefault("spec", {
            "type": "Spec", "connection_specification": yaml.safe_load(file.read_text())["connectionSpecification"]})
    manifest = ManifestReferenceResolver().preprocess_manifest(manifest)
    # The runtime refuses those of older connectors.
    manifest["streams"] = [stream for stream in manifest.get("streams", [])
                           if stream.get("retriever", {}).get("type") != "AsyncRetriever"]
    name_times(manifest)
    return path, manifest


def name_times(part):
    """Adds the type that older manifests leave out, and newer runtimes require."""
    for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else []:
        name_times(value)
    for name, kind in (("start_datetime", "MinMaxDatetime"), ("end_datetime", "MinMaxDatetime"),
                       ("start_time_option", "RequestOption"), ("end_time_option", "RequestOption")):
        if isinstance(part, dict) and isinstance(part.get(name), dict) and "$ref" not in part[name]:
            part[name].setdefault("type", kind)


def simplify(path):
    """Rewrites the text of a manifest, which both programs then read."""
    text = path.read_text().replace("https://", "http://")
    text = re.sub(r"(\bpage_size\"?:\s*)\"?(\d+)\"?(?=\s*[,}\n])", lambda m: m[1] + str(min(int(m[2]), 3)), text)
    path.write_text(text)
    for file in path.parent.rglob("*.py"):
        file.write_text(file.read_text().replace("https://", "http://"))


# Inputs ---------------------------------------------------------------------------------------------------------

def all_inputs(manifest, start):
    """The inputs of the specification, and those that an address needs and only the connector's Python computes."""
    values = inputs(manifest.get("spec", {}).get("connection_specification") or {}, start)
    for name in re.findall(r"""url_base"?: .*?config\[['"](\w+)['"]\]""", yaml.safe_dump(manifest, width=10**6)):
        values.setdefault(name, "eu1")
    return values


def inputs(schema, start, path=()):
    """A value for each required input, each with a default, and each start date."""
    values = {}
    required = schema.get("required", [])
    for name, part in schema.get("properties", {}).items():
        value = input_value(name, part, start, name in required, path + (name,))
        if value is not None:
            # Examples such as https://YOUR-DOMAIN and <name>.example.com.
            values[name] = re.sub(r"[<>{}\[\]]", "", value.replace("https://", "http://")) if isinstance(value, str) else value
    return values


def input_value(name, part, start, required, path):
    if "const" in part:
        return part["const"]
    options = part.get("oneOf") or part.get("anyOf")
    if options:
        options = [o for o in options if "properties" in o] or options
        simple = [o for o in options if not {"refresh_token", "client_secret"} & set(o.get("properties", {}))]
        chosen = (simple or options)[0]
        merged = {**chosen, "properties": {**part.get("properties", {}), **chosen.get("properties", {})}}
        merged["required"] = list(merged["properties"])
        return inputs(merged, start, path) if "properties" in chosen else input_value(name, chosen, start, required, path)
    if part.get("type") == "object" or "properties" in part:
        return inputs(part, start, path) or None
    if re.search("start|since|from", name) and re.search("date|time|since", name):
        return date_for(part, start)
    if part.get("default") is not None:
        return part["default"]
    if not required:
        return None
    if part.get("enum"):
        return part["enum"][0]
    if part.get("airbyte_secret"):
        return "-".join(path)
    if part.get("examples"):
        return part["examples"][0]
    kind = part.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if part.get("format") in ("date", "date-time"):
        return date_for(part, start)
    return {"integer": 7, "number": 7, "boolean": True, "array": ["one", "two"]}.get(kind, "-".join(path))


def date_for(part, start):
    forms = ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.000Z", "%Y-%m-%dT%H:%M:%S"]
    if part.get("format") == "date":
        forms.insert(0, "%Y-%m-%d")
    for form in forms:
        if re.search(part.get("pattern", ""), start.strftime(form)):
            return start.strftime(form)
    return start.strftime(forms[0])


def leaves(values, path=()):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, path + (name,))
        else:
            yield path + (name,), value


# Listings -------------------------------------------------------------------------------------------------------

def source(manifest, config, catalog=None, state=None):
    trusted = {"custom_components_trusted": True}
    if "custom_components_trusted" not in inspect.signature(ConcurrentDeclarativeSource.__init__).parameters:
        os.environ["AIRBYTE_ENABLE_UNSAFE_CODE"], trusted = "true", {}
    return ConcurrentDeclarativeSource(
        config=config, catalog=catalog, state=state or [], source_config=manifest, **trusted)


def stream_components(manifest, config):
    """All streams of a connector, and the parents of each."""
    read = source(manifest, config)
    found = []

    def walk(part):
        if isinstance(part, list):
            for element in part:
                walk(element)
        elif isinstance(part, dict):
            if "retriever" in part and part.get("type") in ("DeclarativeStream", None):
                found.append(part)
            for value in part.values():
                walk(value)

    walk(read.resolved_manifest.get("streams", []))
    try:
        walk(read.dynamic_streams)
    except Exception:
        pass
    walk(read.resolved_manifest.get("dynamic_streams", []))
    return found


def delegated(manifest):
    """The streams that an incremental run reads from another listing, and the children of one."""
    found = set()
    for stream in source(manifest, {}).resolved_manifest.get("streams", []):
        if "StateDelegatingStream" in json.dumps(stream, default=str):
            found.add(stream.get("name"))
    return found


def render(text, parameters, config, **values):
    if not isinstance(text, str):
        return text
    return InterpolatedString.create(text, parameters=parameters or {}).eval(config, **values)


def chains(expression, roots):
    """The paths that a Jinja text reads, such as ['response', 'meta', 'next']."""
    found = []

    def chain(node):
        n = jinja2.nodes
        if isinstance(node, n.Name):
            return [node.name]
        if isinstance(node, n.Getattr):
            base = chain(node.node)
            return base and base + [node.attr]
        if isinstance(node, n.Getitem) and isinstance(node.arg, n.Const):
            base = chain(node.node)
            return base and base + [node.arg.value]
        if isinstance(node, n.Getitem) and isinstance(node.arg, n.Neg):
            base = chain(node.node)
            return base and base + [-1]
        if isinstance(node, n.Call) and isinstance(node.node, n.Getattr):
            base = chain(node.node.node)
            if node.node.attr == "get" and node.args and isinstance(node.args[0], n.Const):
                return base and base + [node.args[0].value]
            return base
        if isinstance(node, n.Or):
            return chain(node.left)
        if isinstance(node, n.Filter) and node.node is not None:
            return chain(node.node)
        return None

    def walk(node):
        path = chain(node)
        if path and path[0] in roots:
            if len(path) > 1 and path[1:] not in [f[1:] for f in found if f[0] == path[0]]:
                found.append(path)
        for child in node.iter_child_nodes():
            walk(child)

    try:
        walk(JINJA.parse(str(expression)))
    except jinja2.TemplateError:
        return []
    found = [p[:-1] if p[-1] in ("get", "split", "items", "keys", "values", "replace") else p for p in found]
    found = [p for n, p in enumerate(found) if len(p) > 1 and p not in found[:n]]
    longest = [p for p in found if not any(o != p and o[:len(p)] == p for o in found)]
    return longest


def pattern(text, parameters, config):
    """A regular expression for a text of which a part is known only while reading; and how much of it is known."""
    out, known = "", 0
    for piece in re.split(r"(\{\{.*?\}\}|\{%.*%\})", text or "", flags=re.S):
        if piece.startswith("{") and PER_LISTING.search(piece):
            out += ".+?" if piece.startswith("{%") else "[^/?]+?"
            continue
        if piece.startswith("{"):
            piece = str(render(piece, parameters, config))
        out += re.escape(piece)
        known += len(piece)
    return out, known


def parse_time(text, form):
    text = str(text)
    utc = datetime.timezone.utc
    try:
        if form in ("%s", "%s_as_float"):
            return datetime.datetime.fromtimestamp(float(text), utc)
        if form == "%ms":
            return datetime.datetime.fromtimestamp(int(text) / 1000, utc)
        if form == "%epoch_microseconds":
            return datetime.datetime.fromtimestamp(int(text) / 1e6, utc)
        time = datetime.datetime.strptime(text, form.replace("%_ms", "%f"))
        return time if time.tzinfo else time.replace(tzinfo=utc)
    except (ValueError, OverflowError):
        pass
    try:
        time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return time if time.tzinfo else time.replace(tzinfo=utc)
    except ValueError:
        pass
    if re.fullmatch(r"\d{13}", text):
        return datetime.datetime.fromtimestamp(int(text) / 1000, utc)
    if re.fullmatch(r"\d{10}", text):
        return datetime.datetime.fromtimestamp(int(text), utc)
    return None


def print_time(time, form):
    if form in ("%s",):
        return int(time.timestamp())
    if form == "%s_as_float":
        return time.timestamp()
    if form == "%ms":
        return int(time.timestamp() * 1000)
    if form == "%epoch_microseconds":
        return int(time.timestamp() * 1_000_000)
    return time.strftime((form or "%Y-%m-%dT%H:%M:%SZ").replace("%_ms", "000"))


def schema_of(stream, folder, parameters, config):
    properties = {}
    loaders = stream.get("schema_loader") or {"type": "JsonFileSchemaLoader"}
    for loader in loaders if isinstance(loaders, list) else [loaders]:
        schema = loader.get("schema")
        if loader.get("type") == "JsonFileSchemaLoader":
            name = render(loader.get("file_path") or f"./schemas/{stream.get('name')}.json", {
                "name": stream.get("name"), **loader.get("$parameters", parameters)}, config)
            found = list(pathlib.Path(folder).rglob(pathlib.Path(name).name))
            schema = json.loads(found[0].read_text()) if found else None
        if schema:
            properties = {**schema.get("properties", {}), **properties}
    return properties
