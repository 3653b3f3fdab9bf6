#!/usr/bin/env python3
"""Runs a command and writes what it took: python3 measure.py FILE COMMAND...

FILE gets "MEMORY TIME": the most memory that one process of it held, in MiB, and processor time in seconds of all that
it waited for (getrusage(2)). Its exit code is the command's. A test cannot measure its own child: Linux counts the
memory that the test held before the child's exec.
"""
import resource
import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(f"{usage.ru_maxrss // 1024} {usage.ru_utime + usage.ru_stime:.2f}\n")
sys.exit(code)
