"""The official library as a peer: reads one JSON command a line, answers one JSON line each.

Values travel as [type, value]; bytes as base64, floats that JSON has no words for as "nan", "inf", "-inf".
"""

import base64
import json
import math
import sys
import threading
import time

import ntcore

MAKE = {
    "boolean": ntcore.Value.makeBoolean,
    "int": ntcore.Value.makeInteger,
    "float": ntcore.Value.makeFloat,
    "double": ntcore.Value.makeDouble,
    "string": ntcore.Value.makeString,
    "raw": ntcore.Value.makeRaw,
    "boolean[]": ntcore.Value.makeBooleanArray,
    "int[]": ntcore.Value.makeIntegerArray,
    "float[]": ntcore.Value.makeFloatArray,
    "double[]": ntcore.Value.makeDoubleArray,
    "string[]": ntcore.Value.makeStringArray,
}
KIND = ntcore.NetworkTableType
FAMILY = {
    KIND.kBoolean: "boolean",
    KIND.kInteger: "int",
    KIND.kFloat: "float",
    KIND.kDouble: "double",
    KIND.kString: "string",
    KIND.kRaw: "raw",
    KIND.kBooleanArray: "boolean[]",
    KIND.kIntegerArray: "int[]",
    KIND.kFloatArray: "float[]",
    KIND.kDoubleArray: "double[]",
    KIND.kStringArray: "string[]",
}


def number_out(value):
    return value if math.isfinite(value) else str(value)


def value_out(value):
    family = FAMILY[value.type()]
    raw = value.value()
    if family == "raw":
        raw = base64.b64encode(bytes(raw)).decode()
    elif family in ("float", "double"):
        raw = number_out(raw)
    elif family in ("float[]", "double[]"):
        raw = [number_out(v) for v in raw]
    elif family.endswith("[]"):
        raw = list(raw)
    return [family, raw]


def value_in(family, raw):
    if family == "raw":
        raw = base64.b64decode(raw)
    elif family in ("float", "double"):
        raw = float(raw)
    elif family in ("float[]", "double[]"):
        raw = [float(v) for v in raw]
    return MAKE[family](raw)


class Peer:
    def __init__(self):
        self.inst = ntcore.NetworkTableInstance.create()
        self.lock = threading.Lock()
        self.events = []
        self.log = []
        self.held = {}
        self.inst.addConnectionListener(True, self.on_connection)
        self.inst.addLogger(0, 100, self.on_log)

    def on_log(self, event):
        with self.lock:
            self.log.append(event.data.message)

    def on_connection(self, event):
        kind = "connected" if event.is_(ntcore.EventFlags.kConnected) else "disconnected"
        with self.lock:
            self.events.append([kind, event.data.remote_id])

    def on_event(self, event):
        with self.lock:
            if event.is_(ntcore.EventFlags.kValueAll):
                name = event.data.topic.getName()
                value = event.data.value
                self.events.append(["value", name, value_out(value), value.server_time()])
            elif event.is_(ntcore.EventFlags.kPublish):
                self.events.append(["topic", event.data.name, event.data.type_str, event.data.properties])
            elif event.is_(ntcore.EventFlags.kUnpublish):
                self.events.append(["gone", event.data.name])
            elif event.is_(ntcore.EventFlags.kProperties):
                self.events.append(["properties", event.data.name, event.data.properties])

    def options(self, c):
        return ntcore.PubSubOptions(
            sendAll=c.get("all", False),
            periodic=c.get("periodic", 0.02),
            keepDuplicates=c.get("keep", False),
            topicsOnly=c.get("topicsonly", False),
        )

    def client(self, c):
        self.inst.setServer("127.0.0.1", c["port"])
        self.inst.startClient4(c["name"])

    def server(self, c):
        self.inst.startServer(c["file"], "127.0.0.1", 0, c["port"])

    def stop(self, c):
        self.inst.stopClient()
        self.inst.stopServer()

    def connected(self, c):
        return self.inst.isConnected()

    def clients(self, c):
        return [i.remote_id for i in self.inst.getConnections()]

    def offset(self, c):
        return self.inst.getServerTimeOffset()

    def publish(self, c):
        topic = self.inst.getTopic(c["name"])
        if "properties" in c:
            held = topic.genericPublishEx(c["type"], c["properties"], self.options(c))
        else:
            held = topic.genericPublish(c["type"], self.options(c))
        self.held[c["id"]] = held

    def set(self, c):
        self.held[c["id"]].set(value_in(*c["value"]))

    def default(self, c):
        self.held[c["id"]].setDefault(value_in(*c["value"]))

    def close(self, c):
        held = self.held.pop(c["id"])
        held.close() if hasattr(held, "close") else None
        del held

    def subscribe(self, c):
        """Prefixes, through a multi-subscriber: its number on the wire is negative."""
        flags = ntcore.EventFlags.kValueAll | ntcore.EventFlags.kTopic
        sub = ntcore.MultiSubscriber(self.inst, c["prefixes"], self.options(c))
        self.inst.addListener(sub, flags, self.on_event)
        self.held[c["id"]] = sub

    def subscribe_one(self, c):
        """One topic: its number on the wire is positive."""
        flags = ntcore.EventFlags.kValueAll | ntcore.EventFlags.kTopic
        sub = self.inst.getTopic(c["name"]).genericSubscribe(c.get("type", ""), self.options(c))
        self.inst.addListener(sub, flags, self.on_event)
        self.held[c["id"]] = sub

    def topics(self, c):
        return [[t.name, t.type_str] for t in self.inst.getTopicInfo()]

    def properties(self, c):
        return self.inst.getTopic(c["name"]).getProperties()

    def set_property(self, c):
        topic = self.inst.getTopic(c["name"])
        topic.setPersistent(True) if c["persistent"] else topic.setPersistent(False)

    def flush(self, c):
        self.inst.flush()

    def take(self, c):
        self.inst.waitForListenerQueue(1.0)
        with self.lock:
            events, self.events = self.events, []
        return events

    def logged(self, c):
        with self.lock:
            return list(self.log)


def main():
    peer = Peer()
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {"ok": getattr(peer, command["do"])(command)}
        except Exception as error:  # told to the other side, which fails the case
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
