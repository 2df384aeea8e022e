// The campaign: what is asked first, then where it stands, then what there is.

import type { Client } from "../nt/client";
import type { Operator } from "../operator";
import { h, setText, show } from "../ui/dom";
import { clip } from "../ui/format";
import { Absence } from "../ui/absence";
import { Ask } from "./ask";
import { FitsList, PlanList, PreArmList, Records, standingOf } from "./lists";
import { Battery, Progress, StateLine } from "./overview";
import { CampaignReader, wants, type Campaign } from "./state";

export class CampaignView {
  private readonly reader: CampaignReader;
  private readonly title = h("h1", { class: "unseen" }, "Campaign");
  private readonly name = h("p", { class: "campaign-name", testid: "campaign-name" });
  private readonly state = new StateLine();
  private readonly ask: Ask;
  private readonly progress = new Progress();
  private readonly battery = new Battery();
  private readonly preArm = new PreArmList();
  private readonly plan = new PlanList();
  private readonly fits: FitsList;
  private readonly records = new Records();
  private readonly absent = new Absence(
    "no-campaign",
    "No Field Lab here yet",
    "The robot publishes nothing under /Catalyst/FieldLab/. On the driver station choose Utility, group Data, Field Lab; it shows up here once it is selected.",
  );
  private readonly body = h("div", { class: "campaign" }, h("div", { class: "lead" }, this.name, this.state.element));
  readonly element = h(
    "div",
    { id: "panel-campaign", class: "panel", tabindex: 0 },
    this.title,
    this.absent.element,
    this.body,
  );
  private readonly spoken = h("p", { class: "unseen", role: "status", testid: "spoken" });
  private said = "";

  constructor(
    private readonly client: Client,
    operator: Operator,
    private readonly linked: () => boolean,
    private readonly now: () => number,
    wall: () => number,
  ) {
    this.reader = new CampaignReader(client.topics);
    this.ask = new Ask(operator, this.reader, (stampUs, seenMs) => client.ageMs(stampUs, seenMs));
    this.fits = new FitsList(wall);
    this.body.append(
      h(
        "div",
        { class: "main" },
        this.ask.element,
        this.progress.element,
        this.battery.element,
        this.preArm.element,
        this.records.measurements,
      ),
      h("div", { class: "side" }, this.plan.element, this.fits.element, this.records.noteCard),
    );
    this.element.append(this.spoken);
  }

  /** What the page's title should say. */
  headline(of: Campaign): string {
    if (wants(of) !== "nothing") return `${clip(of.prompt.text, 60)} – Field Lab`;
    return of.campaign === "" ? "Field Lab" : `${clip(of.campaign, 40)} – Field Lab`;
  }

  read(): Campaign {
    return this.reader.read();
  }

  update(of: Campaign): void {
    this.absent.update(!of.present, this.linked());
    show(this.body, of.present);
    if (!of.present) return;
    setText(this.name, clip(of.campaign, 120));
    this.state.update(of, this.silentMs());
    this.ask.update(of);
    this.progress.update(of);
    this.battery.update(of);
    this.preArm.update(of);
    const standing = standingOf(of);
    this.plan.update(of, standing);
    this.fits.update(of, standing);
    this.records.update(of);
    this.speak(of);
  }

  /** How long the robot has said nothing of the campaign, as far as it should have. */
  private silentMs(): number | undefined {
    const heardMs = this.reader.heardMs;
    const program = heardMs === undefined ? undefined : this.now() - heardMs;
    return this.client.link === "live" ? program : (program ?? this.client.silentMs);
  }

  /** A new prompt is the one thing that somebody who does not look has to hear. */
  private speak(of: Campaign): void {
    const asked = wants(of) === "nothing" ? "" : `${of.prompt.seq ?? ""} ${of.prompt.text}`;
    if (asked === this.said) return;
    this.said = asked;
    setText(this.spoken, asked === "" ? "" : `The robot asks: ${clip(of.prompt.text, 300)}`);
  }
}
