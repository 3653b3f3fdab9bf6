#!/usr/bin/env python3
"""image_config.py LAYOUT: adds the health check to the configuration of an OCI layout's only image.

The OCI specification has no member for it, so umoci cannot set it; Docker and Podman read theirs from an OCI image.
Source: https://github.com/moby/docker-image-spec, "Healthcheck"
"""

import hashlib
import json
import pathlib
import sys

SECOND = 10**9
HEALTH_CHECK = {
    "Test": ["CMD", "/usr/bin/bmo", "doctor", "--health", "/tmp/health.json"],
    "Interval": 60 * SECOND,
    "Timeout": 10 * SECOND,
    "StartPeriod": 120 * SECOND,
    "Retries": 3,
}


def read(layout, descriptor):
    """Returns the JSON blob that a descriptor names."""
    return json.loads((layout / "blobs/sha256" / descriptor["digest"].split(":")[1]).read_text())


def write(layout, descriptor, value):
    """Writes a JSON blob and makes the descriptor name it."""
    content = json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
    digest = hashlib.sha256(content).hexdigest()
    (layout / "blobs/sha256" / digest).write_bytes(content)
    descriptor.update(digest="sha256:" + digest, size=len(content))


def main():
    """Changes the configuration, the manifest that names it, and the index that names the manifest."""
    layout = pathlib.Path(sys.argv[1])
    index = json.loads((layout / "index.json").read_text())
    (entry,) = index["manifests"]
    manifest = read(layout, entry)
    configuration = read(layout, manifest["config"])
    configuration["config"]["Healthcheck"] = HEALTH_CHECK
    write(layout, manifest["config"], configuration)
    write(layout, entry, manifest)
    (layout / "index.json").write_text(json.dumps(index, separators=(",", ":"), sort_keys=True))


if __name__ == "__main__":
    main()
