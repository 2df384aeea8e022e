"""Writes logs with WPILib's own writers; the other half of the wpilog conformance test.

    official_write.py types FILE     every type with edge values, metadata, finish and restart
    official_write.py structs FILE   structs and arrays of them, nested, by the official packer
    official_write.py network FILE   topics of every type as ntcore's own server logs them, as DataLogManager does

What was written is printed as JSON: {"<entry name>": {"type": ..., "values": [[time, value], ...]}}; time is null where
the official side chose it.
"""

import dataclasses
import json
import sys

import ntcore
from wpiutil import DataLogWriter, wpistruct


def types(path: str) -> dict:
    log = DataLogWriter(path, "extra \u00fc")
    written: dict = {}

    def entry(type_name: str, append, values, metadata: str = "{}") -> int:
        name = f"types/{type_name}"
        index = log.start(name, type_name, metadata, 5)
        written[name] = {"type": type_name, "metadata": metadata, "values": []}
        for place, value in enumerate(values):
            time = 1_000 * (place + 1) - 2_500
            append(index, value, time)
            shown = list(value) if isinstance(value, (bytes, tuple)) else value
            written[name]["values"].append([time, shown])
        return index

    entry("boolean", log.appendBoolean, [True, False])
    entry("int64", log.appendInteger, [0, -1, 2**63 - 1, -(2**63)])
    entry("float", log.appendFloat, [0.5, -1.25, 3.0e38])
    last = entry("double", log.appendDouble, [0.1, -1e308, 5e-324])
    entry("string", log.appendString, ["", "text", "\u00fc\u20ac\U0001f916", "x" * 70_000])
    entry("json", log.appendString, ["{}"], '{"schema":"S"}')
    entry("raw", log.appendRaw, [b"", b"\x00\xff", bytes(range(256)) * 300])
    entry("boolean[]", log.appendBooleanArray, [[], [True, False, True]])
    entry("int64[]", log.appendIntegerArray, [[], [1, -1, 2**40]])
    entry("float[]", log.appendFloatArray, [[], [0.5, -0.5]])
    entry("double[]", log.appendDoubleArray, [[], [0.1, 0.2, 0.3]])
    entry("string[]", log.appendStringArray, [[], ["", "a", "\u00fc"]])
    log.setMetadata(last, '{"unit":"m"}', 9_000)
    written["types/double"]["metadata"] = '{"unit":"m"}'
    log.finish(last, 2_000_000)
    # The official writer gives a restarted name its id again; the second life is an entry of its own.
    again = log.start("types/double", "double", "{}", 3_000_000)
    log.appendDouble(again, 7.5, 3_000_001)
    for wide in range(300):
        log.start(f"wide/{wide}", "int64", "", 4_000_000)
    log.appendInteger(log.start("wide/299", "int64", "", 4_000_000), 299, 4_000_001)
    log.flush()
    log.stop()
    return written


@wpistruct.make_wpistruct(name="Inner")
@dataclasses.dataclass
class Inner:
    flag: bool
    small: wpistruct.int8
    wide: wpistruct.uint32


@wpistruct.make_wpistruct(name="Outer")
@dataclasses.dataclass
class Outer:
    first: Inner
    value: wpistruct.double
    second: Inner
    count: wpistruct.int64


def structs(path: str) -> dict:
    log = DataLogWriter(path, "")
    outers = [
        Outer(Inner(True, -3, 4_000_000_000), 0.5, Inner(False, 4, 5), -(2**40)),
        Outer(Inner(False, 127, 0), -1.5, Inner(True, -128, 1), 2**40),
    ]
    # The typed entries (StructLogEntry) of this release cannot be made from Python; the packer they use can.
    one = log.start("structs/one", "struct:Outer", "", 5)
    many = log.start("structs/many", "struct:Outer[]", "", 5)
    for place, outer in enumerate(outers):
        log.appendRaw(one, wpistruct.pack(outer), 10 + place)
    log.appendRaw(many, wpistruct.packArray(outers), 20)
    log.appendRaw(many, wpistruct.packArray([]) or b"", 21)
    log.addStructSchema(Outer, 30)
    log.flush()
    log.stop()
    flat = [
        [o.first.flag, o.first.small, o.first.wide, o.value, o.second.flag, o.second.small, o.second.wide, o.count]
        for o in outers
    ]
    return {
        "structs/one": {"type": "struct:Outer", "values": [[10, flat[0]], [11, flat[1]]]},
        "structs/many": {"type": "struct:Outer[]", "values": [[20, flat], [21, []]]},
    }


def network(path: str) -> dict:
    log = DataLogWriter(path, "")
    instance = ntcore.NetworkTableInstance.create()
    captured = instance.startEntryDataLog(log, "", "NT:")
    made = {
        "boolean": (instance.getBooleanTopic, True),
        "int": (instance.getIntegerTopic, -7),
        "float": (instance.getFloatTopic, 0.25),
        "double": (instance.getDoubleTopic, 0.1),
        "string": (instance.getStringTopic, "text"),
        "boolean[]": (instance.getBooleanArrayTopic, [True, False]),
        "int[]": (instance.getIntegerArrayTopic, [1, 2]),
        "float[]": (instance.getFloatArrayTopic, [0.5]),
        "double[]": (instance.getDoubleArrayTopic, [0.1, 0.2]),
        "string[]": (instance.getStringArrayTopic, ["a", ""]),
    }
    log_names = {"int": "int64", "int[]": "int64[]"}
    written = {}
    publishers = []
    for type_name, (topic, value) in made.items():
        publisher = topic(f"/net/{type_name}").publish()
        publisher.set(value)
        publishers.append(publisher)
        written[f"NT:/net/{type_name}"] = {"type": log_names.get(type_name, type_name), "values": [[None, value]]}
    raw = instance.getRawTopic("/net/raw").publish("msgpack")
    raw.set(b"\xc0")
    written["NT:/net/raw"] = {"type": "msgpack", "values": [[None, [0xC0]]]}
    instance.addSchema("struct:Late", "structschema", b"double x")
    instance.flushLocal()
    instance.stopEntryDataLog(captured)
    log.flush()
    log.stop()
    ntcore.NetworkTableInstance.destroy(instance)
    return written


if __name__ == "__main__":
    cases = {"types": types, "structs": structs, "network": network}
    print(json.dumps(cases[sys.argv[1]](sys.argv[2])))
