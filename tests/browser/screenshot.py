"""Takes a picture of a page of the dashboard.

`python tests/browser/screenshot.py --url http://127.0.0.1:8642/explorations/exp_... --out docs/dashboard.png --pick`
"""

import argparse
from pathlib import Path

from chromium import open_browser, open_page
from walk import click_front_point, front_pixels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--full", action="store_true", help="the whole page, not only the window")
    parser.add_argument("--wait", type=float, default=1.5, help="seconds for live data to arrive")
    parser.add_argument("--pick", action="store_true", help="open the design in the middle of the front")
    parser.add_argument("--press", action="append", default=[], help="a button to press before, by its name")
    arguments = parser.parse_args()
    scheme = "dark" if arguments.dark else "light"
    with (
        open_browser() as browser,
        open_page(browser, arguments.width, arguments.height, scheme, arguments.scale) as page,
    ):
        page.goto(arguments.url)
        page.wait_for_timeout(arguments.wait * 1000)
        for name in arguments.press:
            page.get_by_role("button", name=name).first.click()
            page.wait_for_timeout(400)
        if arguments.pick:
            front = front_pixels(page)
            click_front_point(page, front[len(front) // 2]["id"])
            page.mouse.move(0, 0)  # the tooltip would cover what lies beside the point
            page.wait_for_timeout(800)
        page.screenshot(path=arguments.out, full_page=arguments.full)


if __name__ == "__main__":
    main()
