"""The demo on bundled data: its runs, and the page that shows them."""

from coalface.studies.demo.page import demo_page
from coalface.studies.demo.runs import Demo, run_demo

__all__ = ["Demo", "demo_page", "run_demo"]
