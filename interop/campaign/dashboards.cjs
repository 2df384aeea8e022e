// Two dashboards that answer a whole campaign with their own habits, over raw WebSockets:
// `node dashboards.cjs console|tab PORT`. One JSON line for each thing seen; packages are looked for in NODE_PATH.

const WebSocket = require("ws");
const { encode, decodeMulti } = require("@msgpack/msgpack");

const FIELD_LAB = "/Catalyst/FieldLab/";
const TUNING = "/Catalyst/Tuning/FieldLab/";
const MANIFEST = "/Catalyst/Tunables/.manifest";
const V41 = "v4.1.networktables.first.wpi.edu";
const V40 = "networktables.first.wpi.edu";

// What the tape says.
const TAPE = { "tape-check/mark-m": 0.75, "tape-check/second-m": 1.5, "spin/caliper-diameter-in": 4.02 };

const DASHBOARDS = {
  // 4.0 only, everything at 20 ms, whole numbers in the time frame under the type of doubles.
  console: { name: "catalyst-console", offers: [V40], prefixes: ["/"], periodic: 0.02, timeType: 1 },
  // 4.1 before 4.0, its own prefixes at 50 ms.
  tab: {
    name: "catalyst-tab",
    offers: [V41, V40],
    prefixes: ["/Catalyst/", "/FMSInfo/", "/Auto Selector/", "/SmartDashboard/", "/limelight", "/PathPlanner/"],
    periodic: 0.05,
    timeType: 2,
  },
};

const [habit, port] = [process.argv[2], Number(process.argv[3])];
const dashboard = DASHBOARDS[habit];
const say = (event, facts) => console.log(JSON.stringify({ event, ...facts }));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const socket = new WebSocket(`ws://127.0.0.1:${port}/nt/${dashboard.name}`, dashboard.offers, { perMessageDeflate: false });
socket.binaryType = "arraybuffer";

const names = new Map();
const values = new Map();
let offset;
let writes = 0;
let pubuid = 100;
const publishers = new Map();

socket.on("message", (data, binary) => {
  if (binary) {
    for (const [id, time, type, value] of decodeMulti(new Uint8Array(data))) {
      if (id === -1) offset ??= time - (value + Date.now() * 1000) / 2;
      else values.set(names.get(id), { type, value });
    }
    return;
  }
  for (const { method, params } of JSON.parse(data.toString())) {
    if (method === "announce") names.set(params.id, params.name);
    if (method === "unannounce") values.delete(params.name);
  }
});
socket.on("error", (error) => fail(String(error)));
socket.on("close", () => fail("the server closed the connection"));

function fail(why) {
  say("failed", { why, state: shown("State"), prompt: shown("Prompt"), said: shown("LastCommit") });
  process.exit(1);
}

const shown = (key) => values.get(FIELD_LAB + key)?.value;

async function until(what, so) {
  const end = Date.now() + 20000;
  while (!so()) {
    if (Date.now() > end) fail(`not in time: ${what}`);
    await pause(10);
  }
}

// Published on the first write of a connection, the value right behind it.
function write(topic, number) {
  let id = publishers.get(topic);
  if (id === undefined) {
    id = pubuid++;
    publishers.set(topic, id);
    socket.send(JSON.stringify([{ method: "publish", params: { name: topic, type: "double", pubuid: id, properties: {} } }]));
  }
  socket.send(encode([id, Math.round(Date.now() * 1000 + offset), 1, number]));
  // A server does not send a client its own values back; the control shows what was set.
  values.set(topic, { type: 1, value: number });
  writes += 1;
}

// The control that the dashboard draws for a topic: it comes from the manifest, and from nothing else.
function control(topic) {
  const row = JSON.parse(values.get(MANIFEST)?.value ?? "[]").find((r) => r.key === topic);
  if (!row) fail(`the manifest has no ${topic}`);
  const drawn = values.get(topic);
  if (drawn?.type !== 1) fail(`${topic} is drawn as a number, found type ${drawn?.type}`);
  if (!(row.min < row.max)) fail(`a slider needs a range, found ${JSON.stringify(row)}`);
  const snap = (x) => Number(Math.min(row.max, Math.max(row.min, row.min + Math.round((x - row.min) / row.step) * row.step)).toFixed(6));
  if (snap(drawn.value) !== drawn.value) fail(`${topic} begins at ${drawn.value}, off its slider`);
  return { ...row, now: drawn.value, snap };
}

const move = {
  // One write, on release.
  async console(topic, goal) {
    write(topic, control(topic).snap(goal));
  },
  // A drag writes all the way and overshoots nothing; the last three steps are taps on a button.
  async tab(topic, goal) {
    const slider = control(topic);
    const from = slider.now;
    const end = slider.snap(goal);
    const near = slider.step < 1 ? slider.snap(end - 3 * slider.step * Math.sign(end - from)) : end;
    let at = from;
    for (let k = 1; k <= 12; k++) {
      const next = slider.snap(from + ((near - from) * k) / 12);
      if (next !== at) write(topic, (at = next));
      await pause(35);
    }
    while (at !== end) {
      await pause(150);
      write(topic, (at = slider.snap(at + slider.step * Math.sign(end - at))));
    }
  },
};

async function main() {
  await new Promise((opened) => socket.on("open", opened));
  const since = Date.now();
  const options = { prefix: true, periodic: dashboard.periodic };
  socket.send(JSON.stringify([{ method: "subscribe", params: { topics: dashboard.prefixes, subuid: 1, options } }]));
  const sync = () => socket.send(encode([-1, 0, dashboard.timeType, Date.now() * 1000]));
  sync();
  setInterval(sync, 1000);
  await until("the server's time", () => offset !== undefined);
  say("connected", { protocol: socket.protocol });
  let answered = -1;
  let confirms = 0;
  let on = 0;
  while (shown("State") !== "DONE") {
    await until("a prompt or the end", () => {
      const asks = shown("State") === "AWAITING_OPERATOR" && shown("Prompt") && shown("PromptSeq") > answered;
      return asks || shown("State") === "DONE";
    });
    if (shown("State") === "DONE") break;
    // A person reads it first, and does not press in the first seconds of a connection.
    await pause(Math.max(500, since + 5000 - Date.now()));
    answered = shown("PromptSeq");
    const key = shown("PromptKey");
    say("prompt", { seq: answered, key });
    const before = shown("LastCommit");
    if (key) {
      if (!(key in TAPE)) fail(`no tape reads ${key}`);
      await move[habit](`${TUNING}Answers/${key}`, TAPE[key]);
      await pause(600);
    } else {
      confirms += 1;
    }
    on = 1 - on;
    await move[habit](`${TUNING}Advance`, on);
    await until("LastCommit to change", () => shown("LastCommit") !== before);
    say("commit", { said: shown("LastCommit") });
  }
  say("done", { measurements: shown("Measurements"), confirms, writes });
  process.exit(0);
}

main();
