"""A person at a dashboard made with the official library: answers a campaign, one JSON line for each thing seen.

`answer.py PORT first`  answers the confirmation and the first question, types half an answer to the second and waits
                          to be killed.
`answer.py PORT again VALUE ADVANCE`
                          comes back under the same name with what it wrote last, watches whether that answers anything,
                          and then answers the rest to the end.
"""

import json
import sys
import time

import ntcore

NAME = "official-dashboard"
FIELD_LAB = "/Catalyst/FieldLab/"
TUNING = "/Catalyst/Tuning/FieldLab/"
ROBOT = "/Catalyst/Robot/"
PATIENCE_SECS = 20.0
# The robot takes nothing from a client that connected less than three seconds ago by its own clock, which runs behind on a busy
# machine, nor from a prompt that has just appeared.
NEW_CLIENT_SECS = 5.0
READING_SECS = 0.6
# Longer than the robot's own guard against what a client re-sends.
WATCH_SECS = 4.5


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


class Dashboard:
    def __init__(self, port):
        self.inst = ntcore.NetworkTableInstance.create()
        everything = ntcore.PubSubOptions(periodic=0.02)
        self.all = ntcore.MultiSubscriber(self.inst, ["/"], everything)
        # Some topics come and go, a question's range with the question: what was there once is kept.
        self.topics = {}
        self.inst.addListener(["/"], ntcore.EventFlags.kPublish | ntcore.EventFlags.kImmediate, self.appeared)
        self.subscribers = {}
        self.publishers = {}
        self.advance = 0.0
        self.port = port

    def appeared(self, event):
        self.topics[event.data.name] = event.data.type_str

    def connect(self):
        self.inst.setServer("127.0.0.1", self.port)
        self.inst.startClient4(NAME)
        self.wait("a connection", self.inst.isConnected)
        self.since = time.monotonic()
        say("connected")

    def wait(self, what, so):
        end = time.monotonic() + PATIENCE_SECS
        while not so():
            if time.monotonic() > end:
                raise SystemExit(f"not in time: {what}; the screen shows {self.screen()}")
            time.sleep(0.01)

    def read(self, key, make):
        if key not in self.subscribers:
            self.subscribers[key] = make(FIELD_LAB + key)
        return self.subscribers[key].get()

    def text(self, key):
        return self.read(key, lambda name: self.inst.getStringTopic(name).subscribe(""))

    def whole(self, key):
        return self.read(key, lambda name: self.inst.getIntegerTopic(name).subscribe(-1))

    def number(self, key):
        return self.read(key, lambda name: self.inst.getDoubleTopic(name).subscribe(float("nan")))

    def rows(self, key):
        return self.read(key, lambda name: self.inst.getStringArrayTopic(name).subscribe([]))

    def sheet(self):
        """The robot's identity, as it stands now: name to type and value."""
        topics = [topic for topic in self.inst.getTopics() if topic.getName().startswith(ROBOT)]
        return {
            topic.getName(): [topic.getTypeString(), self.inst.getEntry(topic.getName()).getValue().value()]
            for topic in topics
        }

    def screen(self):
        return {key: self.text(key) for key in ("State", "Prompt", "PromptKey", "Hold", "Fault", "LastCommit")}

    def write(self, key, number):
        if key not in self.publishers:
            self.publishers[key] = self.inst.getDoubleTopic(TUNING + key).publish()
        self.publishers[key].set(number)

    def press(self):
        self.advance += 1.0
        self.write("Advance", self.advance)

    def await_prompt(self, key):
        """Until the robot asks for `key`, and a person has read it; an empty key is a confirmation."""

        def asked():
            asks = self.text("State") == "AWAITING_OPERATOR" and self.text("Prompt") != ""
            return asks and self.text("PromptKey") == key and self.whole("PromptSeq") >= 0

        self.wait(f"a prompt for {key!r}", asked)
        new = NEW_CLIENT_SECS - (time.monotonic() - self.since)
        time.sleep(max(READING_SECS, new))
        say(
            "prompt",
            seq=self.whole("PromptSeq"),
            key=key,
            text=self.text("Prompt"),
            unit=self.text("PromptUnit"),
            min=None if key == "" else self.number("PromptMin"),
            max=None if key == "" else self.number("PromptMax"),
        )

    def commit(self):
        """Advance; answers what the robot says to it."""
        before = self.text("LastCommit")
        self.press()
        self.wait("LastCommit to change", lambda: self.text("LastCommit") != before)
        said = self.text("LastCommit")
        say("commit", said=said, measurements=list(self.rows("Measurements")))
        return said

    def confirm(self):
        self.await_prompt("")
        self.commit()

    def answer(self, key, topic, number):
        self.await_prompt(key)
        self.write(topic, number)
        time.sleep(READING_SECS)
        self.commit()


def first(desk):
    desk.connect()
    desk.confirm()
    desk.answer("tape-check/mark-m", "Value", 0.75)
    desk.await_prompt("tape-check/second-m")
    desk.write("Value", 1.25)
    desk.inst.flush()
    time.sleep(READING_SECS)
    say("typing", value=1.25, advance=desk.advance)
    # Whoever started this program kills it here.
    time.sleep(PATIENCE_SECS)


def again(desk, value, advance):
    # The library sends these as soon as it is connected, as it does after every reconnection.
    desk.advance = advance
    desk.write("Value", value)
    desk.write("Advance", advance)
    desk.connect()
    desk.wait("the prompt that stood before", lambda: desk.text("PromptKey") == "tape-check/second-m")
    seen = {"prompts": set(), "states": set(), "commits": set(), "rows": set()}
    while time.monotonic() - desk.since < WATCH_SECS:
        seen["prompts"].add(desk.whole("PromptSeq"))
        seen["states"].add(desk.text("State"))
        seen["commits"].add(desk.text("LastCommit"))
        seen["rows"].update(desk.rows("Measurements"))
        time.sleep(0.02)
    say("watched", secs=time.monotonic() - desk.since, **{key: sorted(found) for key, found in seen.items()})
    # Advance alone commits nothing either: what stands in Value was typed on another connection.
    desk.commit()
    desk.answer("tape-check/second-m", "Value", 1.5)
    desk.confirm()
    desk.answer("spin/caliper-diameter-in", "Answers/spin/caliper-diameter-in", 4.02)
    desk.wait("DONE", lambda: desk.text("State") == "DONE")
    desk.wait("progress 1", lambda: desk.number("Progress") == 1.0)
    manifest = desk.inst.getStringTopic("/Catalyst/Tunables/.manifest").subscribe("")
    say(
        "done",
        session=desk.text("Session"),
        measurements=list(desk.rows("Measurements")),
        prompt=desk.text("Prompt"),
        step=desk.text("Step"),
        manifest=json.loads(manifest.get()),
        topics=dict(desk.topics),
        sheet=desk.sheet(),
    )


def main():
    desk = Dashboard(int(sys.argv[1]))
    if sys.argv[2] == "first":
        first(desk)
    else:
        again(desk, float(sys.argv[3]), float(sys.argv[4]))


if __name__ == "__main__":
    main()
