/**
 * A collector with reports from a UDP socket and a sink, until it is ended. Argument: a {@link CollectorSetting}.
 * Says its port, and its counts some times a second. Lines of standard input set its clock: milliseconds.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Collector, UdpSource } from '@int/collector';
import { KafkaSink } from '@int/sink-kafka';
import type { CollectorSetting } from './settings.js';

const { access, prefix, address, directory, durability } = JSON.parse(process.argv[2]!) as CollectorSetting;
const say = (what: string, detail: unknown): void => {
  writeSync(1, `${what} ${JSON.stringify(detail)}\n`);
};
let offsetMs = 0;
const source = new UdpSource({
  address: `udp://${address}:0`,
  now: () => performance.timeOrigin + performance.now() + offsetMs,
});
const sink = new KafkaSink({
  ...access,
  topics: { prefix },
  // That is for the processors, and for whoever deletes them.
  createTopics: false,
  records: ['reports'],
  // So little that outages go to the spool.
  batchMessages: 100,
  batchBytes: 262_144,
  memoryBytes: 4 * 262_144,
  spool: { directory },
  durability,
  whenFull: 'drop',
  connectTimeoutMs: 1000,
  requestTimeoutMs: 3000,
  retry: { firstMs: 50, maxMs: 500 },
  watermarkMs: 250,
  onProblem: ({ message }) => say('problem', message),
});
const collector = new Collector({ sources: [source], sinks: [sink] });
await collector.start();
say('port', source.address.port);
const telling = setInterval(() => say('reports', sink.totals().reports), 200);
createInterface({ input: process.stdin }).on('line', (line) => {
  offsetMs += Number(line);
});
process.once('SIGTERM', () => {
  clearInterval(telling);
  void collector.stop(8000).then(() => {
    say('reports', sink.totals().reports);
    process.exit(0);
  });
});
