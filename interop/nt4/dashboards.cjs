// Dashboards' habits on the wire, spoken with raw WebSockets: `node dashboards.cjs HABIT PORT`.
//
// Each habit ends with exit code 0 when all of it was seen, and prints why when not. Packages are looked for in the
// folder of peers, which the caller names in NODE_PATH.

const http = require("http");
const WebSocket = require("ws");
const { encode, decodeMulti } = require("@msgpack/msgpack");

const V41 = "v4.1.networktables.first.wpi.edu";
const V40 = "networktables.first.wpi.edu";
const RTT = "rtt.networktables.first.wpi.edu";

const [habit, port] = [process.argv[2], Number(process.argv[3])];

function check(condition, what) {
  if (!condition) {
    console.log(`expected ${what}`);
    process.exit(1);
  }
}

const limit = setTimeout(() => check(false, `${habit} to end within 20 s`), 20000);

function open(name, protocols) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/nt/${encodeURIComponent(name)}`, protocols, {
    perMessageDeflate: false,
  });
  socket.binaryType = "arraybuffer";
  const peer = { socket, topics: new Map(), values: [], answers: [], waiting: [], texts: 0 };
  socket.on("message", (data, binary) => {
    if (binary) {
      for (const item of decodeMulti(new Uint8Array(data))) {
        if (item[0] === -1) peer.answers.push({ at: Date.now(), item });
        else {
          check(peer.topics.has(item[0]), `an announcement before a value of ${item[0]}`);
          peer.values.push({ name: peer.topics.get(item[0]).name, time: item[1], type: item[2], value: item[3] });
        }
      }
    } else {
      peer.texts += 1;
      for (const { method, params } of JSON.parse(data.toString())) {
        if (method === "announce") {
          check(typeof params.properties === "object", "properties in every announcement");
          peer.topics.set(params.id, params);
        }
        if (method === "unannounce") peer.topics.delete(params.id);
      }
    }
    peer.waiting = peer.waiting.filter((w) => !(w.when() && (w.then(), true)));
  });
  peer.until = (when) =>
    new Promise((then) => (when() ? then() : peer.waiting.push({ when, then })));
  peer.send = (items) => socket.send(JSON.stringify(items));
  peer.binary = (item) => socket.send(encode(item));
  peer.last = (name) => peer.values.filter((v) => v.name === name).at(-1)?.value;
  peer.named = (name) => [...peer.topics.values()].find((t) => t.name === name);
  return new Promise((resolve, reject) => {
    socket.on("open", () => resolve(peer));
    socket.on("error", reject);
    socket.on("unexpected-response", (_, response) => reject(new Error(String(response.statusCode))));
  });
}

function get(path) {
  return new Promise((resolve, reject) => {
    http.get({ host: "127.0.0.1", port, path }, (response) => {
      let body = "";
      response.on("data", (d) => (body += d));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    }).on("error", reject);
  });
}

const subscribe = (topics, subuid, options) => ({ method: "subscribe", params: { topics, subuid, options } });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const habits = {
  // AdvantageScope: an HTTP probe, two sockets of one name, everything at 20 ms, large random numbers.
  async advantagescope() {
    const began = Date.now();
    const probe = await get("/");
    check(probe.status === 200 && Date.now() - began < 250, "the probe answered with 200 within 250 ms");
    check(probe.headers["access-control-allow-origin"] === "*", "an open CORS header");
    const main = await open("AdvantageScope", [V41]);
    check(main.socket.protocol === V41, "4.1");
    check(!main.socket.extensions, "no extensions");
    const rtt = await open("AdvantageScope", [RTT]);
    check(rtt.socket.protocol === RTT, "the time protocol");
    main.send([subscribe([""], 73182934, { prefix: true, all: true, periodic: 0.02 })]);
    await main.until(() => main.last("/robot/double") !== undefined && main.last("/robot/struct") !== undefined);
    check(main.named("/robot/struct").type === "struct:Pose2d", "the struct's type");
    check(![...main.topics.values()].some((t) => t.name.startsWith("$")), "no metatopics under the empty prefix");
    for (let i = 0; i < 10; i++) {
      const asked = Date.now();
      rtt.binary([-1, 0, 2, i * 1000]);
      await rtt.until(() => rtt.answers.length > i);
      const answer = rtt.answers[i].item;
      check(answer[3] === i * 1000 && answer[2] === 2 && answer[1] > 0, "our time back, and the server's");
      check(Date.now() - asked < 500, "a quick answer");
    }
    // Tuning values are sent as whole numbers where they have no fraction.
    main.send([{ method: "publish", params: { name: "/Tuning/kP", type: "double", pubuid: 99123456, properties: {} } }]);
    await main.until(() => main.named("/Tuning/kP"));
    main.binary([99123456, 1, 1, 3]);
    const other = await open("other", [V41]);
    other.send([subscribe(["/Tuning/kP"], 5, {})]);
    await other.until(() => other.last("/Tuning/kP") === 3);
    // The visible fields change as the user clicks.
    for (let i = 0; i < 200; i++) main.send([subscribe(["/robot/double"], 1000 + i, { prefix: true, all: true, periodic: 0.02 })]);
    for (let i = 0; i < 200; i++) main.send([{ method: "unsubscribe", params: { subuid: 1000 + i } }]);
    const seen = main.values.length;
    await main.until(() => main.values.length > seen);
  },

  // Elastic: 4.0 listed first, publish without properties, one prefix subscription per widget.
  async elastic() {
    const main = await open("Elastic@home", [V40, V41]);
    check(main.socket.protocol === V41, "4.1 by the server's preference");
    const rtt = await open("Elastic@home", [RTT]);
    rtt.binary([-1, 0, 2, 5]);
    await rtt.until(() => rtt.answers.length > 0);
    for (let i = 0; i < 300; i++) main.send([subscribe([`/robot/${i}`], i, { prefix: true, periodic: 0.1, all: false, topicsonly: false })]);
    main.send([subscribe(["/robot/double"], 999, { prefix: true, periodic: 0.1 })]);
    await main.until(() => main.last("/robot/double") !== undefined);
    main.send([{ method: "publish", params: { name: "/in", type: "double", pubuid: 42 } }]);
    main.send([{ method: "setproperties", params: { name: "/in", update: {} } }]);
    main.binary([42, 1, 1, 6.25]);
    main.send([subscribe(["/out"], 1001, { prefix: true })]);
    await main.until(() => main.last("/out") === 6.25);
    main.send([{ method: "unpublish", params: { name: "/in", pubuid: 42 } }]);
  },

  // The console: 4.0 only, integer time under the number of doubles, publish and value in one go.
  async console() {
    const main = await open("catalyst-console", [V40]);
    check(main.socket.protocol === V40, "4.0");
    let pings = 0;
    main.socket.on("ping", () => pings++);
    main.send([subscribe(["/"], 1, { prefix: true, periodic: 0.02 })]);
    for (let i = 0; i < 3; i++) {
      main.binary([-1, 0, 1, Date.now() * 1000]);
      await main.until(() => main.answers.length > i);
      check(main.answers[i].item[2] === 1 && Number.isInteger(main.answers[i].item[3]), "the same type and value back");
      await pause(300);
    }
    const [, server, , sent] = main.answers.at(-1).item;
    check(Number.isFinite(server - sent), "a time");
    main.send([{ method: "publish", params: { name: "/in", type: "double", pubuid: 100, properties: {} } }]);
    main.binary([100, server, 1, 4]);
    await main.until(() => main.last("/out") === 4);
    check(pings === 0, "no pings for 4.0");
  },

  // The tablet: both protocols, its prefixes, a drag that streams values.
  async tab() {
    const main = await open("catalyst-tab", [V41, V40]);
    const prefixes = ["/Catalyst/", "/FMSInfo/", "/SmartDashboard/", "/limelight", "/out", "/robot/"];
    main.send([subscribe(prefixes, 1, { prefix: true, periodic: 0.05 })]);
    main.binary([-1, 0, 2, Date.now() * 1000]);
    await main.until(() => main.answers.length > 0);
    main.send([{ method: "publish", params: { name: "/in", type: "double", pubuid: 100, properties: {} } }]);
    for (let i = 0; i <= 50; i++) {
      main.binary([100, i, 1, i / 10]);
      if (i % 10 === 0) await pause(20);
    }
    await main.until(() => main.last("/out") === 5);
    await main.until(() => main.last("/robot/double") !== undefined);
  },
};

habits[habit]().then(
  () => {
    clearTimeout(limit);
    console.log("seen");
    process.exit(0);
  },
  (error) => check(false, `no error, found ${error}`),
);
