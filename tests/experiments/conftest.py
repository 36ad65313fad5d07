from page_support import ROOT

# A source distribution has no experiments.
collect_ignore_glob = [] if (ROOT / "experiments" / "__init__.py").exists() else ["*"]
