"""Books, whose author and reviews come nested if a request includes them, and else by their keys. included-objects.py

The file `asked` gets a line for each request. If `gone` is in the folder, the first review is gone.
"""
import answers
import os

AUTHORS = {1: {"id": 1, "name": "Ada"}, 2: {"id": 2, "name": "Bo"}}


def reviews(book):
    numbers = [number for number in (book * 10 + 1, book * 10 + 2) if number != 11 or not os.path.exists("gone")]
    return [{"id": number, "words": f"review {number}"} for number in numbers]


def book(number, included):
    author, own = AUTHORS[1 + number % 2], reviews(number)
    return {"id": number, "title": f"book {number}", "author": author if "author" in included else author["id"],
            **({"reviews": own} if "reviews" in included else {})}


def answer(path, query):
    with open("asked", "a") as log: log.write(path + " " + query.get("include", "") + "\n")
    if path != "/books": return 404, {"error": "one request is enough"}
    included = query.get("include", "").split(",")
    return 200, {"books": [book(number, included) for number in (1, 2, 3)]}


answers.serve(answer)
