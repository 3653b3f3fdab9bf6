"""A real browser for the tests of the web interface: Debian's chromium, driven by selenium.

It sees what a person sees: `text` is what is shown, `press` clicks what is visible, and `check` fails for a page that is wider than
its window, an empty page, or a message of the browser's console.
"""
import json
import re
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HEIGHTS = {360: 780, 1600: 1000}


class Failure(Exception):
    """What a person would not accept."""


class Browser:
    """A browser with a window of a width, with or without JavaScript, light or dark."""

    def __init__(self, width=1600, script=True, dark=False, pictures=None, name=""):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-extensions", "--hide-scrollbars", "--force-device-scale-factor=1"):
            options.add_argument(argument)
        if not script:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.width, self.script = width, script
        # A phone's window is narrower than a desktop browser's may be.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": HEIGHTS[width], "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        self.pictures = Path(pictures) if pictures else None
        self.name = name
        if self.pictures:
            self.pictures.mkdir(parents=True, exist_ok=True)

    def close(self):
        self.driver.quit()

    # What is shown

    @property
    def text(self):
        """The text of the page as it is shown."""
        for _ in range(5):
            try:
                # Numbers have narrow spaces between their groups.
                return re.sub("[\u00a0\u2009\u202f]", " ", self.driver.find_element(By.TAG_NAME, "body").text)
            except (StaleElementReferenceException, NoSuchElementException):
                time.sleep(0.1)
        return ""

    @property
    def address(self):
        return self.driver.current_url

    @property
    def heading(self):
        return self.driver.find_element(By.TAG_NAME, "h1").text

    def measure(self, expression):
        """The value of an expression of the page's document; works without JavaScript, too, which only stops the page's own."""
        return self.driver.execute_cdp_cmd(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True})["result"].get("value")

    # What a person does

    def open(self, address):
        self.driver.get(address)

    def visible(self, elements):
        return [element for element in elements if element.is_displayed()]

    def find(self, words, tags=("button", "a", "summary")):
        """The first visible element of these tags whose text is `words`."""
        for _ in range(3):
            try:
                for tag in tags:
                    for element in self.visible(self.driver.find_elements(By.TAG_NAME, tag)):
                        if element.text.strip() == words:
                            return element
                break
            except StaleElementReferenceException:
                # The page reloads itself while a sync runs.
                time.sleep(0.3)
        raise Failure(f"nothing to press says \"{words}\" on {self.address}:\n{self.text}")

    def press(self, words, tags=("button", "a", "summary")):
        element = self.find(words, tags)
        box = element.rect
        if box["width"] < 8 or box["height"] < 8:
            raise Failure(f"\"{words}\" is too small to press: {box}")
        # WebDriver refuses a click on an element that another one covers.
        self.follow(element.click, leads=element.tag_name != "summary")

    def follow(self, action, leads=True):
        """Does something that leads to another page, and waits for it."""
        old = self.driver.find_element(By.TAG_NAME, "html")
        action()
        end = time.monotonic() + 20
        while leads:
            try:
                old.is_enabled()
            except WebDriverException:
                break
            if time.monotonic() > end:
                raise Failure(f"nothing followed on {self.address}")
            time.sleep(0.02)
        while self.measure("document.readyState") != "complete":
            time.sleep(0.02)

    def field(self, label):
        """The field that belongs to a label, found as a person finds it."""
        for element in self.visible(self.driver.find_elements(By.TAG_NAME, "label")):
            if element.text.split("\n")[0].strip() == label:
                target = element.get_dom_attribute("for")
                if target:
                    return self.driver.find_element(By.ID, target)
                return element.find_element(By.CSS_SELECTOR, "input, select, textarea")
        for element in self.visible(self.driver.find_elements(By.CSS_SELECTOR, "[aria-label]")):
            if element.get_dom_attribute("aria-label") == label:
                return element
        raise Failure(f"no field is called \"{label}\" on {self.address}:\n{self.text}")

    def fill(self, label, value):
        field = self.field(label)
        field.clear()
        field.send_keys(value)

    def choose(self, label, words):
        for option in self.field(label).find_elements(By.TAG_NAME, "option"):
            if option.text.strip() == words:
                return option.click()
        raise Failure(f"\"{label}\" has no choice \"{words}\"")

    # By keyboard alone

    @property
    def focused(self):
        return self.driver.switch_to.active_element

    def keys(self, *keys):
        self.focused.send_keys(*keys)

    def enter(self):
        """Presses Enter, which leads to another page."""
        self.follow(lambda: self.keys(Keys.ENTER))

    def tab_to(self, words, most=120, reverse=False):
        """Moves the focus until an element with this text, label or name has it; each stop must be visible and marked."""
        for _ in range(most):
            webdriver.ActionChains(self.driver).send_keys(Keys.TAB).perform()
            element = self.focused
            if element.tag_name == "body":
                continue
            if not element.is_displayed() or element.rect["width"] < 1:
                raise Failure(f"the focus is on something invisible: {element.get_attribute('outerHTML')[:200]}")
            ring = element.value_of_css_property("outline-style"), element.value_of_css_property("outline-width")
            if ring[0] == "none" or ring[1] in ("0px", ""):
                raise Failure(f"the focus is not marked: {element.get_attribute('outerHTML')[:200]} {ring}")
            names = (element.text.strip(), element.get_dom_attribute("aria-label"), element.get_dom_attribute("id"),
                     element.get_dom_attribute("name"))
            if words in names:
                return element
        raise Failure(f"the keyboard does not reach \"{words}\" on {self.address}")

    # What must hold

    def shows(self, *texts):
        shown = self.text
        for text in texts:
            if text not in shown:
                raise Failure(f"{self.address} does not show \"{text}\":\n{shown}")

    def hides(self, *texts):
        shown = self.text
        for text in texts:
            if text in shown:
                raise Failure(f"{self.address} shows \"{text}\":\n{shown}")

    def wait(self, text, seconds=30):
        """Waits as a person does who looks at the page, which reloads itself."""
        end = time.monotonic() + seconds
        while text not in self.text:
            if time.monotonic() > end:
                raise Failure(f"{self.address} does not show \"{text}\" after {seconds} s:\n{self.text}")
            time.sleep(0.2)

    def wait_reloading(self, text, seconds=30):
        """Waits and reloads, for a change that the page does not follow by itself."""
        end = time.monotonic() + seconds
        while text not in self.text:
            if time.monotonic() > end:
                raise Failure(f"{self.address} does not show \"{text}\" after {seconds} s:\n{self.text}")
            time.sleep(0.3)
            self.driver.refresh()

    def check(self, picture=None, status=200):
        """Fails for what is wrong on any page, and takes a picture.

        STATUS is that of the page, which the browser's console reports if it is an error.
        """
        if picture:
            self.picture(picture)
        wide = self.measure("document.documentElement.scrollWidth"), self.measure("document.documentElement.clientWidth")
        if wide[0] > wide[1]:
            raise Failure(f"{self.address} is {wide[0]} pixels wide in a window of {wide[1]}")
        if len(self.visible(self.driver.find_elements(By.TAG_NAME, "h1"))) != 1:
            raise Failure(f"{self.address} does not have one heading")
        for entry in self.driver.get_log("browser"):
            if f"the server responded with a status of {status} " in entry["message"]:
                continue
            if entry["level"] in ("SEVERE", "WARNING"):
                raise Failure(f"{self.address}: the browser says: {entry['message']}")
        faint = self.faint_texts()
        if faint:
            raise Failure(f"{self.address} has text that is too faint (WCAG AA): {json.dumps(faint[:5])}")
        nameless = self.measure("""
            [...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a')].filter(e =>
                !(e.innerText || '').trim() && !e.getAttribute('aria-label') && !e.getAttribute('title') &&
                !(e.id && document.querySelector('label[for="' + CSS.escape(e.id) + '"]')) && !e.closest('label') &&
                !(e.textContent || '').trim()).map(e => e.outerHTML.slice(0, 200))""")
        if nameless:
            raise Failure(f"{self.address} has fields without a name: {nameless[:5]}")
        small = self.measure("""
            [...document.querySelectorAll('button, input:not([type=hidden]):not([type=checkbox]):not([type=radio]), select')]
                .filter(e => e.getClientRects().length && e.getBoundingClientRect().height < 24).map(e => e.outerHTML.slice(0, 120))""")
        if small:
            raise Failure(f"{self.address} has fields lower than 24 pixels: {small[:5]}")

    def faint_texts(self):
        """The texts whose contrast is below 4.5, or 3 where they are large (WCAG 2.2, 1.4.3)."""
        return self.measure("""
            (() => {
                const parse = text => (text.match(/[0-9.]+/g) || []).map(Number);
                const light = c => { const f = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
                    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
                const back = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
                    if (c.length === 3 || c[3] > 0.99) return c; }
                    return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255]; };
                const found = [];
                const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (walker.nextNode()) {
                    const e = walker.currentNode.parentElement;
                    if (!walker.currentNode.data.trim() || !e.getClientRects().length || e.closest('svg')) continue;
                    const style = getComputedStyle(e);
                    const [a, b] = [light(parse(style.color)), light(back(e))].sort((x, y) => y - x);
                    const size = parseFloat(style.fontSize);
                    const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
                    const contrast = (a + 0.05) / (b + 0.05);
                    if (contrast < (isLarge ? 3 : 4.5)) found.push([walker.currentNode.data.trim().slice(0, 40), contrast.toFixed(2)]);
                }
                return found;
            })()""") or []

    def picture(self, name):
        if not self.pictures:
            return
        # The whole page, up to a height that a person would still look at.
        height = min(int(self.measure("document.documentElement.scrollHeight") or 800), 3000)
        size = {"width": self.width, "deviceScaleFactor": 1, "mobile": self.width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": max(height, HEIGHTS[self.width])})
        self.driver.get_screenshot_as_file(str(self.pictures / f"{self.name}-{re.sub('[^A-Za-z0-9]+', '-', name).strip('-')}.png"))
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": HEIGHTS[self.width]})


def fail(browser, error):
    """Prints a failure, with a picture of what was shown."""
    print(f"FAILED {browser.name}: {error}", file=sys.stderr)
    if browser.pictures:
        browser.picture("failure")
    sys.exit(1)
