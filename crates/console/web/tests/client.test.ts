// The connection: what it says, when it gives up, what it keeps.

import { describe, expect, it } from "vitest";
import { address } from "../src/nt/client";
import { ServerClock } from "../src/nt/clock";
import { Bench, bytes } from "./support";

describe("link", () => {
  it("is connecting, live, stale with its age, lost, and live again by itself", () => {
    const bench = new Bench();
    bench.client.subscribe({ topics: ["/Catalyst/"], prefix: true, periodic: 0.1, all: false });
    expect(bench.client.link).toBe("connecting");
    bench.connect();
    expect(bench.client.link).toBe("live");
    // The server falls silent: time goes on without answers.
    for (let i = 0; i < 20; i += 1) {
      bench.ms += 100;
      bench.client.tick();
    }
    expect([bench.client.link, bench.client.silentMs]).toEqual(["stale", 2000]);
    for (let i = 0; i < 25; i += 1) {
      bench.ms += 100;
      bench.client.tick();
    }
    expect(bench.client.link).toBe("lost");
    expect(bench.sockets[0]?.closed).toBe(true);
    expect(bench.sockets.length).toBeGreaterThan(1);
    bench.socket.onopen?.();
    bench.answerTime();
    expect([bench.client.link, bench.client.connections]).toEqual(["live", 2]);
    expect(JSON.parse(bench.socket.texts[0] ?? "")[0]).toMatchObject({
      method: "subscribe",
      params: { topics: ["/Catalyst/"] },
    });
  });

  it("waits longer after each failure, and never longer than six seconds", () => {
    const bench = new Bench();
    const gaps: number[] = [];
    let last = bench.ms;
    for (let i = 0; i < 600; i += 1) {
      const before = bench.sockets.length;
      bench.client.tick();
      if (bench.sockets.length > before) {
        gaps.push(bench.ms - last);
        last = bench.ms;
        bench.socket.onclose?.();
      }
      bench.ms += 100;
    }
    expect(gaps.slice(0, 5)).toEqual([0, 300, 500, 1000, 2000]);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(6000);
    expect(bench.client.link).toBe("lost");
  });

  it("a socket that never opens is given up after three seconds", () => {
    const bench = new Bench();
    bench.client.tick();
    bench.ms += 3100;
    bench.client.tick();
    expect(bench.sockets[0]?.closed).toBe(true);
  });

  it("a late word of a dropped socket changes nothing", () => {
    const bench = new Bench();
    bench.connect();
    const old = bench.socket;
    old.onclose?.();
    bench.ms += 500;
    bench.client.tick();
    old.onmessage?.({ data: '[{"method":"announce","params":{"name":"/old","id":1,"type":"int","properties":{}}}]' });
    old.onopen?.();
    expect(bench.client.topics.get("/old")).toBeUndefined();
    expect(bench.client.link).not.toBe("live");
  });
});

describe("topics", () => {
  it("what is not announced again after a reconnect is swept, the rest keeps its value until then", () => {
    const bench = new Bench();
    bench.connect();
    bench.put("/stays", "double", 1);
    bench.put("/goes", "double", 2);
    bench.socket.onclose?.();
    bench.ms += 500;
    bench.connect();
    expect(bench.client.topics.get("/goes")?.value).toBe(2);
    bench.announce("/stays", "double");
    bench.pass(2500);
    expect(bench.client.topics.get("/goes")).toBeUndefined();
    expect(bench.client.topics.get("/stays")?.value).toBe(1);
  });

  it("ids are used again by servers: the newest announcement wins, by id and by name", () => {
    const bench = new Bench();
    bench.connect();
    const announce = (name: string, id: number) =>
      bench.text(JSON.stringify([{ method: "announce", params: { name, id, type: "int", properties: {} } }]));
    announce("/a", 3);
    announce("/b", 3);
    bench.binary(bytes("94 03 01 02 09"));
    expect([bench.client.topics.get("/a")?.value, bench.client.topics.get("/b")?.value]).toEqual([undefined, 9]);
    announce("/a", 4);
    bench.text('[{"method":"unannounce","params":{"name":"/a","id":3}}]');
    expect(bench.client.topics.get("/a")).toBeDefined();
    bench.text('[{"method":"unannounce","params":{"name":"/a","id":4}}]');
    expect(bench.client.topics.get("/a")).toBeUndefined();
  });

  it("another type makes it another topic", () => {
    const bench = new Bench();
    bench.connect();
    bench.put("/a", "double", 4);
    bench.announce("/a", "string");
    expect(bench.client.topics.get("/a")?.value).toBeUndefined();
  });

  it("a broken message of a text frame costs itself", () => {
    const bench = new Bench();
    bench.connect();
    bench.text('[7,{"method":"announce","params":{"name":"/a","id":1,"type":"int"}},{"method":"who"}]');
    expect(bench.client.topics.get("/a")?.type).toBe("int");
    expect(bench.client.broken).toBe(2);
  });

  it("ages are of the robot's clock, and of ours where that says nothing", () => {
    const bench = new Bench();
    bench.connect();
    bench.put("/a", "double", 1);
    bench.pass(5000);
    const topic = bench.client.topics.get("/a");
    expect(bench.client.ageMs(topic?.stampUs ?? 0, topic?.seenMs ?? 0)).toBe(5000);
    expect(bench.client.ageMs(0, bench.ms - 700)).toBe(700);
    // Set four seconds before this page came.
    expect(bench.client.ageMs((bench.ms - 4000) * 1000 + 10_000_000, bench.ms)).toBe(4000);
  });
});

describe("clock", () => {
  it("a robot that has rebooted behind the console has another clock at once, a slow answer has not", () => {
    const clock = new ServerClock();
    clock.answer(0, 2_000, 500_001_000);
    expect(clock.serverUs(1_000_000)).toBe(501_000_000);
    // Three seconds on its way, the answer says little and moves nothing.
    clock.answer(1_000_000, 4_000_000, 501_100_000);
    expect(clock.serverUs(4_000_000)).toBe(504_000_000);
    clock.answer(5_000_000, 5_010_000, 105_000);
    expect(clock.serverUs(6_000_000)).toBe(1_100_000);
  });

  it("believes the fastest round trip of the window", () => {
    const clock = new ServerClock();
    expect(clock.serverUs(0)).toBeUndefined();
    clock.answer(0, 80_000, 1_070_000);
    clock.answer(100_000, 102_000, 1_101_000);
    clock.answer(200_000, 290_000, 1_205_000);
    expect(clock.serverUs(300_000)).toBe(1_300_000);
    expect(clock.rttMs).toBe(2);
    for (let i = 0; i < 10; i += 1) clock.answer(0, 10_000, 2_005_000);
    expect(clock.serverUs(0)).toBe(2_000_000);
    clock.answer(10, 0, 5);
    clock.answer(0, 10, NaN);
    expect(clock.rttMs).toBe(10);
  });
});

describe("address", () => {
  const page = { protocol: "http:", host: "127.0.0.1:5809", search: "" };
  it("is the page's own server, or the robot that is named", () => {
    expect(address(page)).toEqual({ url: "ws://127.0.0.1:5809/nt/console", straight: undefined });
    expect(address({ ...page, search: "?nt=10.12.34.2:5810" })).toEqual({
      url: "ws://10.12.34.2:5810/nt/console",
      straight: "10.12.34.2:5810",
    });
    expect(address({ ...page, search: "?nt=robot.local" })).toMatchObject({ url: "ws://robot.local:5810/nt/console" });
    expect(address({ ...page, search: "?nt=[::1]:5810" })).toMatchObject({ url: "ws://[::1]:5810/nt/console" });
  });
  it("refuses what is no host", () => {
    for (const bad of ["", "a/b", "x:0", "x:99999", "a b", "x@y:1", "http://x"]) {
      expect(address({ ...page, search: `?nt=${encodeURIComponent(bad)}` }), bad).toHaveProperty("error");
    }
  });
});
