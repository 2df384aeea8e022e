// Puts the page together: one connection, one operator, three views.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import licences from "./licences.txt?url";
import { CampaignView } from "./campaign/view";
import { LiveView } from "./live/view";
import { address, Client, type Socket } from "./nt/client";
import { Operator } from "./operator";
import { RobotView } from "./robot/view";
import { h } from "./ui/dom";
import { LinkBar } from "./ui/link";
import { Tabs } from "./ui/tabs";
import { themeSwitch } from "./ui/theme";

/** How often texts are looked at; no faster than people read. */
const TEXT_MS = 100;

/** What the page needs at all times; everything else is asked for while it is looked at. */
const ALWAYS = [
  "/Catalyst/FieldLab/",
  "/Catalyst/Robot/",
  "/Catalyst/Tuning/FieldLab/",
  "/Catalyst/Status/",
  "/Catalyst/Brownout/MeasuredVoltage",
  "/Catalyst/Systemcore/BatteryVolts",
  "/FieldLabConsole/",
];
const ALWAYS_SECS = 0.1;

function start(root: HTMLElement): void {
  const where = address(location);
  if ("error" in where) {
    root.append(h("main", { class: "panel" }, h("h1", {}, "Field Lab"), h("p", { role: "alert" }, where.error)));
    return;
  }
  const now = () => performance.now();
  const client = new Client(where.url, {
    now,
    random: Math.random,
    open: (url, protocols) => new WebSocket(url, protocols) as unknown as Socket,
  });
  client.subscribe({ topics: ALWAYS, prefix: true, periodic: ALWAYS_SECS, all: false });
  client.subscribe({ topics: ["/.schema/"], prefix: true, periodic: ALWAYS_SECS, all: false });
  const operator = new Operator(client, { now, later: (ms, then) => void setTimeout(then, ms) });

  const link = new LinkBar(client, where.straight);
  const linked = () => link.linked;
  const campaign = new CampaignView(client, operator, linked, now, Date.now);
  const robot = new RobotView(client.topics, (stampUs) => client.stampAgeMs(stampUs), linked);
  const live = new LiveView(client, now);
  const tabs = new Tabs(
    [
      { id: "campaign", title: "Campaign", panel: campaign.element },
      { id: "robot", title: "Robot", panel: robot.element },
      { id: "live", title: "Live", panel: live.element },
    ],
    (id) => {
      live.shown(id === "live");
    },
  );
  root.append(
    h("header", { class: "top" }, h("p", { class: "brand" }, "Field Lab"), tabs.list, link.element),
    h("main", {}, campaign.element, robot.element, live.element),
    h(
      "footer",
      { class: "foot" },
      link.facts,
      h("a", { href: licences }, "Licences"),
      themeSwitch(() => live.restyle()),
    ),
  );

  const texts = () => {
    operator.look();
    link.update();
    const state = campaign.read();
    const title = campaign.headline(state);
    if (document.title !== title) document.title = title;
    if (document.hidden) return;
    if (tabs.current === "campaign") campaign.update(state);
    else if (tabs.current === "robot") robot.update();
    else live.update();
  };
  setInterval(() => {
    client.tick();
    texts();
  }, TEXT_MS);
  const frame = () => {
    live.frame();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  addEventListener("online", () => client.hurry());
  addEventListener("hashchange", texts);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) client.hurry();
  });
  client.tick();
  texts();
}

const root = document.getElementById("app");
if (root) start(root);
