"""Prints every record of a log as WPILib's own reader finds it, one line each; the other half of the wpilog conformance test.

    official_read.py FILE

    header <version> <extra header as JSON>
    start <time> <id> <name> <type> <metadata>      texts as JSON
    finish <time> <id>
    metadata <time> <id> <metadata>
    data <time> <id> <payload in hex>
    control <time> <payload in hex>                 a control record that says nothing
"""

import json
import sys

from wpiutil.log import DataLogReader


def main(path: str) -> None:
    reader = DataLogReader(path)
    if not reader.isValid():
        sys.exit(f"{path}: not valid")
    out = [f"header {reader.getVersion()} {json.dumps(reader.getExtraHeader())}"]
    for record in reader:
        time = record.getTimestamp()
        if not record.isControl():
            out.append(f"data {time} {record.getEntry()} {bytes(record.getRaw()).hex()}")
        elif record.isStart():
            data = record.getStartData()
            texts = " ".join(json.dumps(text) for text in (data.name, data.type, data.metadata))
            out.append(f"start {time} {data.entry} {texts}")
        elif record.isFinish():
            out.append(f"finish {time} {record.getFinishEntry()}")
        elif record.isSetMetadata():
            data = record.getSetMetadataData()
            out.append(f"metadata {time} {data.entry} {json.dumps(data.metadata)}")
        else:
            out.append(f"control {time} {bytes(record.getRaw()).hex()}")
    print("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1])
