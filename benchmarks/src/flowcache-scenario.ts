/** One scenario of the flow cache benchmark in a process of its own: prints its result as a line of JSON. */
import { measureRates, measureReaders } from './flowcache/events.js';
import { measureLatency } from './flowcache/latency.js';
import type { Work } from './flowcache/reading.js';
import { measureRounding } from './flowcache/rounding.js';
import { measureShards } from './flowcache/sharding.js';

const [name, path, ...rest] = process.argv.slice(2);
const number = (index: number): number => Number(rest[index]);

const SCENARIOS: Readonly<Record<string, () => unknown>> = {
  rates: () => measureRates(path!, number(0), number(1), number(2), number(3)),
  readers: () => measureReaders(path!, rest[0] as Work, rest[1]!.split(',').map(Number), number(2), number(3)),
  latency: () => measureLatency(path!, rest[0]!, number(1), number(2)),
  shards: () => measureShards(path!, number(0), number(1), number(2), number(3), number(4)),
  rounding: () => measureRounding(path!, number(0)),
};

console.log(JSON.stringify(await SCENARIOS[name!]!()));
