#!/usr/bin/env python3
"""scenarios.py NAME ADDRESS [--width N] [--no-script] [--dark] [--pictures FOLDER] [--password WORD] [--url URL]

Does in a real browser what people do with the web interface, and fails for what they would not accept. ADDRESS is the one that
`bmo serve` printed. The suite BrowserTests starts the servers that a scenario needs, and says what must be in the database.
"""
import argparse
import time

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.keys import Keys

from browser import Browser, Failure, fail


def demo(browser):
    """Each page over the demo's three servers, by its links."""
    browser.check("overview")
    browser.shows("Country", "Subdivision", "Document", "249", "5 127", "Nothing needs a decision.")
    browser.press("To decide", ["a"])
    browser.shows("No value was changed on both sides.", "No deletions are held.", "No records are in quarantine.")
    browser.check("decide")
    browser.press("Runs", ["a"])
    browser.shows("sync", "finished")
    browser.check("runs")
    browser.press("1", ["a"])
    browser.shows("Run 1: sync", "Preview the undo")
    browser.check("run")
    browser.press("Plan", ["a"])
    browser.shows("GET http://127.0.0.1")
    browser.check("plan")
    browser.press("Configuration", ["a"])
    browser.shows("registry", "gazetteer", "files", "None, as far as bmo can tell")
    browser.check("config")
    browser.press("Model", ["a"])
    browser.check("model")
    if not browser.measure("document.querySelector('svg').getBoundingClientRect().height > 100"):
        raise Failure("the picture of the model is not there")
    browser.press("Overview", ["a"])
    browser.press("Country", ["a"])
    browser.shows("249 rows", "Andorra")
    browser.check("entity")
    browser.press("alpha2", ["a"])
    browser.shows("alpha2 ↑")
    browser.press("alpha2", ["a"])
    browser.shows("alpha2 ↓", "Zimbabwe")
    browser.press("Next 50 rows", ["a"])
    browser.hides("Zimbabwe")
    browser.press("First rows", ["a"])
    browser.shows("Zimbabwe")
    browser.choose("Only rows whose", "name")
    browser.choose("comparison", "like")
    browser.fill("value", "Nor%")
    browser.press("Filter")
    browser.shows("Conditions: name~Nor%", "Norway", "North")
    browser.hides("Zimbabwe")
    browser.press("Count the rows", ["a"])
    browser.shows("They match")
    browser.check("filtered")
    browser.press("NO", ["a"])
    browser.shows("Country NO: Norway", "Kingdom of Norway", "registry, its own listing", "Oslo (NO-03)")
    browser.check("object")
    browser.press("Oslo (NO-03)", ["a"])
    browser.shows("Subdivision NO-03: Oslo")
    browser.press("Norway (NO)", ["a"])
    browser.open(origin(browser) + "/entity/Subdivision?where=country%3DNO&limit=5")
    browser.shows("Norway (NO)", "Next 5 rows")
    browser.check("references")
    browser.open(origin(browser) + "/entity/Nowhere")
    browser.shows("Not found", "has no entity")
    browser.check("missing", status=404)
    browser.press("Overview", ["a"])
    browser.press("Sync all")
    browser.shows("Sync was started.")
    browser.wait_reloading("Sync: finished", 60)
    browser.check("synced")
    browser.press("Sign out")
    browser.shows("Sign in", "Open the address that bmo serve printed last.")
    browser.check("signed-out", status=401)


def notes(browser):
    """An edit, a conflict, a refused record: over a remote that takes edits."""
    browser.shows("1 value was changed both here and on the remote.")
    browser.check("todo")
    browser.press("Decide", ["a"])
    browser.shows("base", "here", "there")
    browser.check("conflict")
    browser.press("Take remote")
    browser.shows("The remote's value is taken.", "No value was changed on both sides.")
    browser.open(origin(browser) + "/object/Note/1")
    browser.shows("Note 1", "there")
    browser.fill("text", "<b>edited</b> by hand")
    browser.check("edit")
    browser.press("Save here")
    browser.shows("Saved here: text.", "<b>edited</b> by hand", "edited here")
    browser.check("edited")
    browser.press("Drop")
    browser.shows("was dropped and rolled back here")
    browser.open(origin(browser) + "/object/Note/1")
    browser.hides("edited here")
    browser.fill("text", "sent by hand")
    browser.press("Save here")
    browser.press("Overview", ["a"])
    browser.press("Send the edits")
    browser.shows("Push was started.")
    browser.wait_reloading("Push: 1 edit sent")
    browser.press("Note", ["a"])
    browser.press("New Note", ["a"])
    browser.fill("text", "a new one")
    uncheck(browser, "n.text")
    browser.check("new")
    browser.press("Create here")
    browser.shows("Created here. The edit waits to be sent.", "a new one")
    browser.press("Delete here")
    browser.check("deleted")
    browser.press("To decide", ["a"])
    browser.check("outbox")


def uncheck(browser, name):
    """Takes the mark off a check box, if it has one."""
    for box in browser.driver.find_elements("name", name):
        if box.is_selected():
            box.click()


def undo(browser):
    """A run is looked at, its undo previewed, then done."""
    browser.press("Runs", ["a"])
    browser.press("Country", ["a"])
    browser.shows("Runs that changed Country")
    browser.check("runs-of-entity")
    browser.press("2", ["a"])
    browser.shows("Norway", "Norge")
    browser.check("run")
    browser.press("Preview the undo")
    browser.shows("Nothing has been written; the remote stays as it is.", "Norway")
    browser.check("undo-preview")
    browser.press("Undo run 2")
    browser.shows("Run 2 is undone by run 3.")
    browser.check("undone")
    browser.open(origin(browser) + "/object/Country/NO")
    browser.shows("Country NO: Norway")
    browser.open(origin(browser) + "/decide")
    browser.press("The record", ["summary"])
    browser.check("quarantine")
    browser.press("Try all again")
    browser.shows("0 records fit now; 1 in quarantine.")


def held(browser):
    """A deletion that was held is previewed, then done."""
    browser.shows("City: the sync would have deleted too many rows, so it deleted none.")
    browser.press("Decide", ["a"])
    browser.press("Preview the deletions")
    browser.wait_reloading("What would change")
    browser.check("preview")
    browser.open(origin(browser) + "/entity/City")
    browser.shows("40 rows")
    browser.open(origin(browser) + "/decide")
    browser.press("Sync and delete")
    browser.wait_reloading("Sync of City with deletions: finished")
    browser.check("deleted")
    browser.open(origin(browser) + "/entity/City")
    browser.shows("1 row.")


def setup(browser, url):
    """The form of a first start, to the first sync."""
    browser.shows("Set up", "There is no configuration bmo.yml yet.")
    browser.check("form")
    browser.choose("What is at the address", "a listing of a REST API: one reply in JSON")
    browser.fill("Address", "/etc/passwd")
    browser.press("Examine")
    browser.shows("The address must begin with https:// or http://, and name a host.")
    browser.check("refused", status=400)
    browser.choose("What is at the address", "a listing of a REST API: one reply in JSON")
    browser.fill("Address", url)
    browser.press("Examine")
    browser.shows("What bmo found", "1 entity is ready to be synced", "are guesses", "entities:")
    browser.check("found")
    browser.press("Write bmo.yml")
    browser.shows("bmo.yml was written.", "There is no database yet.")
    browser.check("written")
    browser.press("Sync now")
    browser.wait_reloading("finished")
    browser.check("synced")


def keyboard(browser, password):
    """From the password to an edit, by keyboard alone."""
    browser.shows("Sign in")
    browser.check("sign-in", status=401)
    browser.tab_to("password")
    browser.keys("wrong")
    browser.enter()
    browser.shows("The password is wrong.")
    browser.check("wrong-password", status=401)
    browser.tab_to("password")
    browser.keys(password)
    browser.enter()
    browser.shows("Overview")
    browser.tab_to("Skip to the content")
    browser.keys(Keys.ENTER)
    if not browser.address.endswith("#content"):
        raise Failure("the link to the content does not lead there")
    browser.tab_to("Note")
    browser.enter()
    browser.shows("Only rows whose")
    browser.tab_to("value")
    browser.keys("1")
    browser.tab_to("Filter")
    browser.enter()
    browser.shows("Conditions:")
    browser.tab_to("1")
    browser.enter()
    browser.shows("Save here")
    browser.tab_to("v.text")
    browser.keys(Keys.CONTROL + "a" + Keys.NULL + "by keyboard")
    browser.check("keyboard-edit")
    browser.tab_to("Save here")
    browser.enter()
    browser.shows("Saved here: text.")
    browser.tab_to("Sign out")
    browser.enter()
    browser.shows("Sign in")


def origin(browser):
    return "/".join(browser.address.split("/")[:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["demo", "notes", "undo", "held", "setup", "keyboard"])
    parser.add_argument("address")
    parser.add_argument("--width", type=int, default=1600, choices=[360, 1600])
    parser.add_argument("--no-script", action="store_true")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--pictures")
    parser.add_argument("--password")
    parser.add_argument("--url")
    options = parser.parse_args()
    began = time.monotonic()
    name = "-".join([options.name, str(options.width), "dark" if options.dark else "light"]
                    + (["no-script"] if options.no_script else []))
    browser = Browser(options.width, not options.no_script, options.dark, options.pictures, name)
    try:
        browser.open(options.address)
        if options.name == "keyboard":
            keyboard(browser, options.password)
        elif options.name == "setup":
            setup(browser, options.url)
        else:
            browser.shows("Overview")
            globals()[options.name](browser)
    except (Failure, WebDriverException) as error:
        fail(browser, error)
    finally:
        browser.close()
    print(f"{name}: passed in {time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    main()
