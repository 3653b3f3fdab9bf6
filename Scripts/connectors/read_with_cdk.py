"""read_with_cdk.py FOLDER [--no-pauses] read --config C --catalog K [--state S]: a connector in Airbyte's runtime."""
import importlib.util
import json
import pathlib
import sys
import time

folder = pathlib.Path(sys.argv[1])
arguments = sys.argv[2:]
if arguments[0] == "--no-pauses":
    arguments = arguments[1:]
    time.sleep = lambda _: None
sys.path.insert(0, str(next(folder.rglob("manifest.yaml")).parent.parent))

components = next(folder.rglob("components.py"), None)
if components and "source_declarative_manifest" in next(folder.rglob("manifest.yaml")).read_text():
    specification = importlib.util.spec_from_file_location("source_declarative_manifest.components", components)
    module = importlib.util.module_from_spec(specification)
    sys.modules["components"] = sys.modules["source_declarative_manifest.components"] = module
    specification.loader.exec_module(module)

from airbyte_cdk.entrypoint import AirbyteEntrypoint, launch

import manifests

path, manifest = manifests.load(folder)
# Its budget would decide how long a run takes.
manifest.pop("api_budget", None)
options = AirbyteEntrypoint.parse_args(arguments)
config = json.loads(pathlib.Path(options.config).read_text())
catalog = manifests.ConcurrentDeclarativeSource.read_catalog(options.catalog) if getattr(options, "catalog", None) else None
state = manifests.ConcurrentDeclarativeSource.read_state(options.state) if getattr(options, "state", None) else []
launch(manifests.source(manifest, config, catalog, state), arguments)
