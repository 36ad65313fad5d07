// Small things that the theme does not do. Nothing is fetched, so that pages work from a disk as well.
(function () {
  "use strict";

  // Columns of sentences stay wide enough to be read on a phone: the table scrolls instead.
  function markProse(table) {
    for (const row of table.rows) {
      for (const cell of row.cells) {
        if (cell.textContent.trim().length > 60) cell.classList.add("prose");
      }
    }
  }

  // A list of versions in the sidebar. Pages of one version link to the same page of another if it exists.
  function addVersions(versions) {
    const place = document.querySelector(".sidebar-sticky .sidebar-search-container");
    if (!versions.length || !place) return;
    const root = document.documentElement.dataset.content_root || "./";
    const here = new URL(root, location.href);
    const label = document.createElement("label");
    label.className = "version-switcher";
    label.textContent = "Version ";
    const select = document.createElement("select");
    for (const version of versions) {
      const option = new Option(version.title, version.folder);
      option.selected = new URL("../" + version.folder + "/", here).href === here.href;
      select.append(option);
    }
    select.addEventListener("change", function () {
      const chosen = versions[select.selectedIndex];
      const page = location.href.split(/[?#]/)[0].slice(here.href.length);
      const target = chosen.pages.includes(page) ? page : "index.html";
      location.href = new URL("../" + chosen.folder + "/" + target, here).href;
    });
    label.append(select);
    place.after(label);
  }

  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("table.docutils").forEach(markProse);
    addVersions(window.MARGINBOOST_VERSIONS || []);
  });
})();
