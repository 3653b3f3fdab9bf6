"""Orders, of which a reply has three at most, whatever is asked for. capped-orders.py

`min` and `max` are the least and the greatest number. The file `orders` has the numbers; the file `asked` gets a line for
each request.
"""
import answers


def answer(path, query):
    with open("orders") as file: orders = [int(word) for word in file.read().split()]
    low, high = query.get("min", "-"), query.get("max", "-")
    with open("asked", "a") as file: file.write(f"{low} {high}\n")
    found = [id for id in orders if (low == "-" or id >= int(low)) and (high == "-" or id <= int(high))]
    return 200, [{"id": id} for id in found[:3]]


answers.serve(answer)
