/**
 * One command for the whole way: a network in which something goes wrong, a collector, Kafka, two stream processors that share
 * the work, and what they find in the terminal.
 *
 * `node dist/demo.js [--scenario NAME] [--seed S] [--seconds N] [--kafka HOST:PORT]`; without `--kafka` a broker is started, from
 * what `npm run setup:system` has installed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Collector, UdpSource } from '@int/collector';
import { SCENARIO_KINDS, SCENARIO_NETWORK } from '@int/netsim';
import { KafkaSink } from '@int/sink-kafka';
import type { ImmediateEvent } from '@int/stream';
import { startCluster } from '../../../.ci/kafka/cluster.mjs';
import { ended } from './ended.js';
import { eventText } from './event-text.js';
import type { NetworkDone, ProcessorMessage } from './messages.js';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'link-failure' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '15' },
    kafka: { type: 'string' },
    /** Beginning of the names of the topics: several demonstrations can share a broker. */
    prefix: { type: 'string', default: 'demo.' },
  },
});
if (!SCENARIO_KINDS.some((kind) => kind === values.scenario)) {
  console.error(`--scenario is one of ${SCENARIO_KINDS.join(', ')}`);
  process.exit(2);
}
const shortest = SCENARIO_NETWORK.shortestNs / 1e9;
if (!(Number.isInteger(Number(values.seconds)) && Number(values.seconds) >= shortest)) {
  console.error(`--seconds is a whole number from ${shortest}, not ${values.seconds}`);
  process.exit(2);
}
const PROCESSORS = 2;
/** The last windows close, and the last events come, when time goes on behind the last report. */
const SETTLE_MS = 6000;
/** How long two processors may take to share the partitions. */
const SHARE_MS = 20_000;

const began = performance.now();
const say = (who: string, what: string): void => {
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${who.padEnd(12)} ${what}`);
};
const program = (name: string): string => fileURLToPath(new URL(`${name}.js`, import.meta.url));

const cluster = values.kafka === undefined ? await startCluster({ brokers: 1 }) : null;
const bootstrap = values.kafka?.split(',') ?? cluster!.bootstrap;
say('kafka', cluster === null ? `at ${bootstrap.join(',')}` : `${cluster.version} started at ${bootstrap.join(',')}`);

const events: ImmediateEvent[] = [];
const processors: ChildProcess[] = [];
try {
  await run();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  for (const child of processors) child.kill();
  await Promise.all(processors.map((child) => ended(child)));
  await cluster?.close();
}

function startProcessor(index: number): Promise<void> {
  const args = [bootstrap.join(','), `${values.prefix}demo`, values.prefix, String(SCENARIO_NETWORK.congestedPackets)];
  const child = fork(program('processor'), args);
  processors.push(child);
  const who = `processor ${index + 1}`;
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      if (code !== 0) reject(new Error(`${who} has ended with ${signal ?? `code ${code}`}`));
    });
    child.on('message', (message: ProcessorMessage) => {
      switch (message.name) {
        case 'assigned': {
          const { partitions, hasNetworkSide } = message;
          if (partitions.length === 0 && !hasNetworkSide) return;
          say(who, `has partitions ${partitions.join(', ')}${hasNetworkSide ? ', and the view of the network' : ''}`);
          resolve();
          return;
        }
        case 'event':
          events.push(message.event);
          say(who, eventText(message.event));
          return;
        case 'problem':
          say(who, message.reason);
      }
    });
  });
}

async function run(): Promise<void> {
  const shared = Promise.all(Array.from({ length: PROCESSORS }, (_, index) => startProcessor(index)));
  await Promise.race([shared, sleep(SHARE_MS, undefined, { ref: false })]);

  const source = new UdpSource({ address: 'udp://127.0.0.1:0' });
  const kafka = new KafkaSink({
    bootstrap,
    topics: { prefix: values.prefix },
    records: ['reports'],
    onProblem: ({ message }) => say('collector', message),
  });
  const collector = new Collector({ sources: [source], sinks: [kafka] });
  await collector.start();
  const { host, port } = source.address;
  say('collector', `listens at ${host}:${port}`);

  const args = [values.scenario, values.seed, values.seconds, host, String(port)];
  const network = fork(program('network'), args);
  say('network', `${values.scenario}, ${values.seconds} s`);
  const failed = once(network, 'exit').then(([code]) => {
    throw new Error(`the network has ended with code ${code}`);
  });
  const [done] = (await Promise.race([once(network, 'message'), failed])) as [NetworkDone];
  await sleep(SETTLE_MS);
  const totals = await collector.stop();

  for (const { kind, fromNs, flow, link, nodeId } of done.labels) {
    const subject = flow === undefined ? (link?.join('-') ?? `switch ${nodeId}`) : `${flow.source}:${flow.sourcePort}`;
    say('network', `it was so: ${kind} ${subject}, ${(fromNs / 1e9).toFixed(2)} s after its start`);
  }
  const { offered, delivered } = totals.sinks.kafka!.reports!;
  say('collector', `${done.sent} sent, ${totals.received} received, ${offered} reports, ${delivered} in Kafka`);
  say('processors', `${events.filter(({ ended }) => ended === undefined).length} events`);
}
