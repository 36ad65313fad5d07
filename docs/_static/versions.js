// The versions to choose from; tools/docs_versions.py writes this file anew. Empty: there is nothing to choose.
window.MARGINBOOST_VERSIONS = [];
