/**
 * A collector with reports from a UDP socket and a sink, until it is ended. Arguments: brokers, prefix, folder of the spool.
 * Says its port, and its counts some times a second. Lines of standard input set its clock: milliseconds.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Collector, UdpSource } from '@int/collector';
import { KafkaSink } from '@int/sink-kafka';
import { PARTITIONS } from '../processor-options.js';

const [brokers, prefix, directory] = process.argv.slice(2);
const say = (what: string, detail: unknown): void => {
  writeSync(1, `${what} ${JSON.stringify(detail)}\n`);
};
let offsetMs = 0;
const source = new UdpSource({
  address: 'udp://127.0.0.1:0',
  now: () => performance.timeOrigin + performance.now() + offsetMs,
});
const sink = new KafkaSink({
  bootstrap: brokers!.split(','),
  topics: { prefix: prefix! },
  createTopics: { partitions: PARTITIONS, replicas: 1 },
  records: ['reports'],
  // So little that outages go to the spool.
  batchMessages: 100,
  batchBytes: 262_144,
  memoryBytes: 4 * 262_144,
  spool: { directory: directory! },
  whenFull: 'drop',
  connectTimeoutMs: 1000,
  requestTimeoutMs: 3000,
  retry: { firstMs: 50, longestMs: 500 },
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
