// The theme follows the system until the reader chooses; the page is whole without this.
(function () {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; name(); };
  name();
})();
