// One shape per word, so that no state is told by its colour.

import { svg } from "./dom";

const PATHS: Record<string, string> = {
  // Campaign.
  IDLE: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 3a5 5 0 1 1 0 10 5 5 0 0 1 0-10z",
  RUNNING: "M6 3.5v17l14.5-8.5z",
  AWAITING_OPERATOR: "M12 1.5 22.5 12 12 22.5 1.5 12zM10.8 6.5v7h2.4v-7zM10.8 15.2v2.4h2.4v-2.4z",
  PAUSED_BATTERY: "M5 3.5h5v17H5zM14 3.5h5v17h-5z",
  DONE: "M9.5 19.5 2.5 12.5l2.6-2.6 4.4 4.4 9.4-9.9 2.6 2.6z",
  ABORTED: "M7.8 2h8.4L22 7.8v8.4L16.2 22H7.8L2 16.2V7.8zM8 10.5v3h8v-3z",
  DISABLED: "M3.5 3.5h17v17h-17zM6.5 6.5v11h11v-11z",
  // Connection.
  live: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16z",
  connecting: "M12 4a8 8 0 0 1 8 8h-3a5 5 0 0 0-5-5zM12 20a8 8 0 0 1-8-8h3a5 5 0 0 0 5 5z",
  stale: "M12 2.5 22.5 21h-21zM10.9 9v6h2.2V9zM10.9 16.5v2.2h2.2v-2.2z",
  lost: "M5.5 3 12 9.5 18.5 3 21 5.5 14.5 12 21 18.5 18.5 21 12 14.5 5.5 21 3 18.5 9.5 12 3 5.5z",
  // Plan.
  banked: "M9.5 19.5 2.5 12.5l2.6-2.6 4.4 4.4 9.4-9.9 2.6 2.6z",
  current: "M6 3.5v17l14.5-8.5z",
  next: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z",
  later: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z",
};
const UNKNOWN = "M4 4h16v16H4zM7 7v10h10V7z";

/** A shape whose word stands beside it, so it has no name of its own. */
export class Shape {
  private readonly path = svg("path", { "fill-rule": "evenodd" });
  readonly element = svg(
    "svg",
    { viewBox: "0 0 24 24", class: "shape", "aria-hidden": "true", focusable: "false" },
    this.path,
  );
  private shown = "";

  constructor(of = "") {
    this.set(of);
  }

  set(of: string): void {
    if (of === this.shown && this.path.hasAttribute("d")) return;
    this.shown = of;
    this.path.setAttribute("d", Object.hasOwn(PATHS, of) ? (PATHS[of] ?? UNKNOWN) : UNKNOWN);
    this.element.setAttribute("data-shape", of);
  }
}
