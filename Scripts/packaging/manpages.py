#!/usr/bin/env python3
"""manpages.py BMO CONFIGURATION FOLDER: writes the man pages bmo(1), bmo-COMMAND(1) and bmo.yml(5) below FOLDER.

The pages of the commands come from `BMO --experimental-dump-help`, which is what `bmo help` prints; bmo.yml(5) is
docs/configuration.md. Source of the format: man-pages(7), groff_man(7).
"""

import datetime
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys


def date():
    """Returns the day of the commit."""
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return moment.strftime("%Y-%m-%d")


def escaped(text):
    """Returns text for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join("\\&" + line if line.startswith(".") else line for line in text.split("\n"))


def paragraphs(text):
    """Returns text as paragraphs; lines that are indented stay as they are."""
    out = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        if block.startswith("    "):
            out += [".PP", ".EX", escaped(block), ".EE"]
        else:
            out += [".PP", escaped(block.replace("\n", " "))]
    return out


def spelling(argument):
    """Returns how an argument is written: `-f, --file path`, `<name>`."""
    value = escaped(argument.get("valueName") or "")
    if argument["kind"] == "positional":
        return "\\fI" + value + "\\fR"
    names = sorted(argument["names"], key=lambda name: len(name["name"]))
    text = ", ".join(
        "\\fB" + escaped(("--" if name["kind"] == "long" else "-") + name["name"]) + "\\fR" for name in names
    )
    return text + (" \\fI" + value + "\\fR" if argument["kind"] == "option" else "")


def synopsis(names, arguments, subcommands):
    """Returns the usage line of a command."""
    words = ["\\fB" + escaped(" ".join(names)) + "\\fR"]
    if any(argument["kind"] != "positional" for argument in arguments):
        words.append("[\\fIoptions\\fR]")
    for argument in arguments:
        if argument["kind"] == "positional":
            word = spelling(argument) + (" ..." if argument["isRepeating"] else "")
            words.append("[" + word + "]" if argument["isOptional"] else word)
    if subcommands:
        words.append("\\fIcommand\\fR ...")
    return " ".join(words)


def page(names, command, version):
    """Returns the page of a command, whose subcommands have sections of it unless it is the root."""
    title = "-".join(names)
    arguments = [argument for argument in command.get("arguments") or [] if argument["shouldDisplay"]]
    subcommands = [sub for sub in command.get("subcommands") or [] if sub["commandName"] != "help"]
    lines = [
        f'.TH "{escaped(title.upper())}" 1 "{date()}" "bmo {version}" "User commands"',
        ".SH NAME",
        escaped(title) + " \\- " + escaped((command.get("abstract") or "").rstrip(".")),
        ".SH SYNOPSIS",
        synopsis(names, arguments, subcommands),
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION"] + paragraphs(command["discussion"])[1:]
    if arguments:
        lines += [".SH OPTIONS"] + options(arguments)
    if len(names) == 1:
        lines += [".SH COMMANDS"]
        for sub in subcommands:
            lines += [".TP", f"\\fBbmo\\-{escaped(sub['commandName'])}\\fR(1)", escaped(sub.get("abstract") or "")]
        lines += [".SH FILES", ".TP", "\\fIbmo.yml\\fR", "the configuration; see \\fBbmo.yml\\fR(5)"]
    else:
        for sub in subcommands:
            lines += subsection(names + [sub["commandName"]], sub)
    lines += [".SH SEE ALSO", "\\fBbmo\\fR(1), \\fBbmo.yml\\fR(5)"]
    return "\n".join(lines) + "\n"


def subsection(names, command):
    """Returns the section of a subcommand of a subcommand."""
    arguments = [argument for argument in command.get("arguments") or [] if argument["shouldDisplay"]]
    lines = [f".SH {escaped(' '.join(names).upper())}", synopsis(names, arguments, [])]
    lines += paragraphs(command.get("abstract") or "")
    if command.get("discussion"):
        lines += paragraphs(command["discussion"])
    return lines + options(arguments)


def options(arguments):
    """Returns a list of arguments with their explanations."""
    lines = []
    for argument in arguments:
        text = (argument.get("abstract") or "").strip()
        if argument.get("defaultValue") and "default" not in text:
            text += f" (default: {argument['defaultValue']})"
        lines += [".TP", spelling(argument), escaped(text or argument.get("valueName") or "")]
    return lines


def configuration_page(path, version):
    """Returns bmo.yml(5), the reference of the configuration."""
    text = pathlib.Path(path).read_text()
    text = re.sub(r"^# .*\n", "", text, count=1)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]+\)", r"\1", text)
    header = "# NAME\n\nbmo.yml - the configuration of bmo\n\n# DESCRIPTION\n\n"
    text = header + re.sub(r"^## ", "# ", text, flags=re.MULTILINE)
    command = ["pandoc", "--standalone", "--from=gfm", "--to=man", "--metadata=title:BMO.YML", "--metadata=section:5"]
    command += ["--metadata=date:" + date(), "--metadata=footer:bmo " + version, "--metadata=header:File formats"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def write(folder, name, section, text):
    """Writes a compressed page, without a time in its header."""
    path = pathlib.Path(folder) / f"man{section}" / f"{name}.{section}.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main():
    """Writes all pages."""
    bmo, configuration, folder = sys.argv[1:]
    dump = subprocess.run([bmo, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    version = subprocess.run([bmo, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    root = json.loads(dump)["command"]
    write(folder, "bmo", 1, page(["bmo"], root, version))
    for command in root["subcommands"]:
        if command["commandName"] != "help":
            names = ["bmo", command["commandName"]]
            write(folder, "-".join(names), 1, page(names, command, version))
    write(folder, "bmo.yml", 5, configuration_page(configuration, version))


if __name__ == "__main__":
    main()
