"""Teams of four users each: 1 to 4 of team 1, 5 to 8 of team 2, and so on. team-users.py TEAMS

Its second state lacks some users, has others in another team, and has changed some. The file `asked` gets a line for each
request about users: the team, the time, and how many such requests were running.
"""
import answers
import sys
import threading
import time

teams = int(sys.argv[1])
lock = threading.Lock()
running = 0
def read(name):
    with open(name) as file: return float(file.read())
def count(change):
    global running
    with lock:
        running += change
        return running
def answer(path, query):
    state, delay = read("state"), read("delay")
    if path == "/teams":
        return 200, [{"id": id} for id in range(1, teams + 1)]
    line = f"{query['team']} {time.time()} {count(1)}\n"
    time.sleep(delay)
    with lock, open("asked", "a") as file: file.write(line)
    team = int(query["team"])
    users = []
    for id in range(1, 4 * teams + 1):
        home = (id + 3) // 4
        if state == 2 and id % 8 == 0: continue
        if state == 2 and id % 16 == 1: home = home % teams + 1
        name = "changed" if state == 2 and id % 5 == 0 else "user"
        if home == team: users.append({"id": id, "name": name + " " + str(id)})
    count(-1)
    return 200, users

answers.serve(answer)
