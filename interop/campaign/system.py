"""A Systemcore's own server, made with the official library: says what a robot's code asks it, one JSON line for each thing
done. It serves until it is killed."""

import json
import socket
import time

import ntcore

PATIENCE_SECS = 30.0


def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    inst = ntcore.NetworkTableInstance.create()
    port = free_port()
    inst.startServer("", "127.0.0.1", 0, port)
    # As on a controller that nobody gave a team number yet.
    team = inst.getIntegerTopic("/sys/team").publish()
    team.set(0)
    brownout = inst.getDoubleTopic("/sys/vbrownout").publish()
    brownout.set(6750.0)
    battery = inst.getDoubleTopic("/sys/battery").publish()
    battery.set(12.5)
    say("serving", port=port)
    end = time.monotonic() + PATIENCE_SECS
    while not inst.getConnections():
        if time.monotonic() > end:
            raise SystemExit("nobody came")
        time.sleep(0.01)
    say("connected", names=[peer.remote_id for peer in inst.getConnections()])
    time.sleep(0.5)
    team.set(5805)
    say("named")
    # Whoever started this program kills it here.
    time.sleep(PATIENCE_SECS)


if __name__ == "__main__":
    main()
