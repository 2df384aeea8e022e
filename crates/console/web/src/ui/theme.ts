// Dark or light as the system says, or as somebody in the sun decides.

import { h, kept } from "./dom";

const THEMES = ["auto", "light", "dark"] as const;

export function themeSwitch(changed: () => void): HTMLElement {
  const select = h(
    "select",
    { id: "theme", testid: "theme" },
    ...THEMES.map((theme) => h("option", { value: theme }, theme)),
  );
  const apply = () => {
    const theme = select.value;
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    changed();
  };
  const before = kept.get("theme");
  if (THEMES.some((theme) => theme === before)) select.value = before ?? "auto";
  apply();
  select.addEventListener("change", () => {
    kept.set("theme", select.value);
    apply();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  return h("div", { class: "theme" }, h("label", { for: "theme" }, "Colours"), select);
}
