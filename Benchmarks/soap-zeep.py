"""What a Python program does instead: zeep reads the reply, sqlite3 takes the rows.

  soap-zeep.py WSDL DATABASE
"""
import sqlite3
import sys

import zeep

wsdl, database = sys.argv[1:]
settings = zeep.Settings(xml_huge_tree=True)
client = zeep.Client(wsdl, settings=settings)
rows = client.service.ListRows()
connection = sqlite3.connect(database)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = NORMAL")
connection.execute(
    "CREATE TABLE IF NOT EXISTS Row(id INTEGER PRIMARY KEY NOT NULL, name TEXT, amount TEXT, active INTEGER) STRICT")
with connection:
    connection.executemany(
        "INSERT INTO Row VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, amount = excluded.amount, "
        "active = excluded.active WHERE name IS NOT excluded.name OR amount IS NOT excluded.amount "
        "OR active IS NOT excluded.active",
        ((row.id, row.name, str(row.amount), row.active) for row in rows))
connection.close()
