/** The network at work: its time goes as the clock does, or as fast as it can. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { exportTables } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { PcapTap } from '@int/netsim';
import { type Incident, Incidents } from './incidents.js';
import { buildFabric, droppedIn, type Fabric, linkOf } from './network.js';
import { type FabricOptions, UsageError } from './options.js';
import { ReportSender } from './reports.js';
import { Traffic } from './traffic.js';

/** Packets a second of virtual time, where nothing is said of real time. */
const FAST_RATE = 200_000;
/** Virtual time between looks at the clock and at what the system says. */
const SLICE_NS = 1e6;
const PACE_MS = 2;
/** Ports of a network with faults: slow enough for loads that one sees. */
const SHOWN_RATE_BPS = 1e8;
/** Time in which what is under way arrives. */
const SETTLE_NS = 1e9;

export interface Totals {
  /** Real time, start of the program not included. */
  readonly seconds: number;
  readonly virtualSeconds: number;
  /** Packets that hosts sent, and got; those that found a full queue. */
  readonly packets: number;
  readonly delivered: number;
  readonly dropped: number;
  /** Telemetry reports sent to the collector, and those that the system refused to send. */
  readonly reports: number;
  readonly refused: number;
  readonly reportsPerSecond: number;
  /** The same by processor time: what a core to itself would give. */
  readonly reportsPerProcessorSecond: number;
  /** Every packet has arrived or was dropped. */
  readonly closes: boolean;
}

/** Rules as commands for sinks. */
function tablesOf(rules: string | null): readonly string[] {
  return rules === null ? [] : exportTables(readRules(readFileSync(rules, 'utf8')), { unsupported: 'report' }).commands;
}

/** Writes what passes a link to a file. @returns what closes it */
function capture(fabric: Fabric, path: string, name: string): () => void {
  const link = linkOf(fabric, name);
  if (link === undefined) throw new UsageError(`--tap ${name}: there is no such link`);
  const file = openSync(path, 'w');
  const tap = new PcapTap({
    onBytes: (bytes) => writeSync(file, bytes),
    epochNs: BigInt(Date.now()) * 1_000_000n,
  });
  fabric.network.tap(link, 'both', tap.sink);
  return () => closeSync(file);
}

/**
 * Runs a fabric until its time is over, its packets are sent, or it is interrupted.
 * @param tell lets faults happen every half minute to a network that is calm otherwise, and is told of each; `null`: none happen
 */
export async function runFabric(
  options: FabricOptions,
  signal: AbortSignal,
  tell: ((incident: Incident) => void) | null = null,
): Promise<Totals> {
  const { rate, collector } = options;
  const sender = await ReportSender.open(collector.host, collector.port);
  const fabric = buildFabric({
    leaves: options.leaves,
    spines: options.spines,
    hosts: options.hosts,
    seed: options.seed,
    onReport: (frame) => sender.send(frame),
    leafCommands: tablesOf(options.rules),
    ...(tell !== null && { rateBps: SHOWN_RATE_BPS }),
  });
  const { network } = fabric;
  const close = options.pcap === null ? undefined : capture(fabric, options.pcap, options.tap);
  const traffic = new Traffic(network, {
    hosts: fabric.hosts,
    packetsPerSecond: rate === 0 ? FAST_RATE : rate,
    packets: options.packets ?? Number.POSITIVE_INFINITY,
    isCalm: tell !== null,
  });
  if (tell !== null) new Incidents(fabric, traffic, tell);
  const begun = performance.now();
  const usage = process.cpuUsage();
  const elapsed = (): number => (performance.now() - begun) / 1000;
  const isOver = (): boolean =>
    signal.aborted || traffic.isOver || (options.seconds !== null && elapsed() >= options.seconds);

  while (!isOver()) {
    const next = network.nowNs + SLICE_NS;
    const isEarly = rate > 0 && next > elapsed() * 1e9;
    if (isEarly) await sleep(PACE_MS);
    else {
      network.run(next);
      await breathe();
    }
    await sender.settle();
  }
  traffic.stop();
  // What is under way arrives. Faults would go on for ever.
  network.run(tell === null ? Number.POSITIVE_INFINITY : network.nowNs + SETTLE_NS);
  await sender.settle(0);
  const seconds = elapsed();
  const { user, system } = process.cpuUsage(usage);
  await sender.close();
  close?.();

  const delivered = fabric.hosts.flat().reduce((sum, { received }) => sum + received, 0);
  const dropped = droppedIn(fabric);
  return {
    seconds,
    virtualSeconds: network.nowNs / 1e9,
    packets: traffic.sent,
    delivered,
    dropped,
    reports: sender.sent,
    refused: sender.refused,
    reportsPerSecond: Math.round(sender.sent / seconds),
    reportsPerProcessorSecond: Math.round((sender.sent * 1e6) / (user + system)),
    closes: traffic.sent === delivered + dropped,
  };
}
