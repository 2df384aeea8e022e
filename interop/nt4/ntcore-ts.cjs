// The independent TypeScript client as a peer: `node ntcore-ts.cjs PORT`.
//
// Raw values are left out: what its decoder makes of them, its own checks refuse.
// It subscribes to `/robot/<type>`, publishes `/ts/<type>`, and prints what it received as one line of JSON.

const { NetworkTables, NetworkTablesTypeInfos: T } = require("ntcore-ts-client");

const nt = NetworkTables.getInstanceByURI("127.0.0.1", Number(process.argv[2]));
const types = {
  boolean: [T.kBoolean, true],
  int: [T.kInteger, -7],
  double: [T.kDouble, 3],
  string: [T.kString, "grüß\u{1F916}"],
  "boolean[]": [T.kBooleanArray, [true, false]],
  "int[]": [T.kIntegerArray, [1, -2]],
  "double[]": [T.kDoubleArray, [1, 2.5]],
  "string[]": [T.kStringArray, ["a", ""]],
};

const seen = {};
const timer = setTimeout(() => finish(1), 15000);

function finish(code) {
  clearTimeout(timer);
  process.stdout.write(`\n${JSON.stringify(seen)}\n`, () => process.exit(code));
}

for (const [name, [type, value]] of Object.entries(types)) {
  nt.createTopic(`/robot/${name}`, type).subscribe((got) => {
    if (got !== null) seen[name] = got;
    if (Object.keys(seen).length === Object.keys(types).length) setTimeout(() => finish(0), 500);
  });
  const topic = nt.createTopic(`/ts/${name}`, type);
  topic.publish().then(() => topic.setValue(value));
}
