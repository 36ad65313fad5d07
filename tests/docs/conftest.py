from page_support import ROOT

# A source distribution has no pages.
collect_ignore_glob = [] if (ROOT / "docs" / "guide.md").exists() else ["*"]
