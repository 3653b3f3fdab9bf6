"""The users into SQLite with dlt: its rest_api source and its sqlalchemy destination, rows merged by their key.

    dlt-users.py URL DATABASE [defaults]

Without `defaults`, tables have primary keys (`create_primary_keys`). dlt makes none by itself, and then finds the rows
to replace without an index, in a time that grows with the square of their number.
"""
import sys
from pathlib import Path

import dlt
from dlt.sources.rest_api import rest_api_source

url, database = sys.argv[1:3]
has_keys = "defaults" not in sys.argv[3:]


def flat(user):
    address = user.pop("address")
    return {**user, "city": address["city"], "zip": address["zip"]}


source = rest_api_source({
    "client": {"base_url": url, "paginator": {"type": "page_number", "base_page": 1, "total_path": "pages"}},
    "resources": [{
        "name": "User",
        "primary_key": "id",
        "write_disposition": "merge",
        "endpoint": {"path": "users", "params": {"per_page": 1000}, "data_selector": "items"},
        "processing_steps": [{"map": flat}],
    }],
})
destination = dlt.destinations.sqlalchemy(f"sqlite:///{Path(database).resolve()}", create_primary_keys=has_keys)
pipeline = dlt.pipeline("users", pipelines_dir="pipelines", destination=destination, dataset_name="main")
pipeline.run(source).raise_on_failed_jobs()
