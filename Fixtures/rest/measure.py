"""Runs a command, and prints its peak memory in KiB and its processor seconds, children included, as the last line of standard error.

The address space of each process is limited to 3 GiB, stacks of threads and arenas of malloc included: a command that asks for more fails.
"""

import resource
import subprocess
import sys

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
code = subprocess.run(sys.argv[1:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"measured {usage.ru_maxrss} {usage.ru_utime + usage.ru_stime:.2f}", file=sys.stderr)
sys.exit(code if code >= 0 else 128 - code)
