// What the page weighs on the wire: every file of dist, gzipped as a server would. Fails above the limit.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const LIMIT = 150_000;
const dist = new URL("../dist/", import.meta.url).pathname;
const files = readdirSync(dist, { recursive: true })
  .map((name) => join(dist, String(name)))
  .filter((path) => statSync(path).isFile())
  .sort();
let total = 0;
for (const path of files) {
  const bytes = readFileSync(path);
  const small = gzipSync(bytes, { level: 9 }).length;
  total += small;
  console.log(
    `${path.slice(dist.length).padEnd(40)} ${String(bytes.length).padStart(8)} ${String(small).padStart(8)} gzip`,
  );
}
console.log(`${"all".padEnd(49)} ${String(total).padStart(8)} gzip, limit ${LIMIT}`);
process.exit(total < LIMIT ? 0 : 1);
