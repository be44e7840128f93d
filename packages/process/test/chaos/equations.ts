/** What has to hold between the reports in the topic and the results in theirs, whatever has happened. */
import { MessageReader, messageKind } from '@int/sink-kafka';
import { topicsOf } from '../../src/findings.js';
import type { KafkaLink } from '../../src/kafka/link.js';
import { committedIn, textOf } from '../log.js';
import { type AnyWindow, LatestWindows } from './simulated-task.js';

const WINDOW_MS = 1000;

/** A report in the topic. */
export interface StoredReport {
  readonly id: string;
  /** By its source port; `null`: it has no flow. */
  readonly port: number | null;
  readonly timeMs: number;
  readonly hops: number;
}

/** The reports of a topic, each once. */
export async function reportsIn(link: KafkaLink, prefix: string, partitions: number): Promise<StoredReport[]> {
  const reader = new MessageReader({ frames: 1 });
  const found = new Map<string, StoredReport>();
  for (const { headers, value } of (await committedIn(link, topicsOf(prefix).reports, partitions)).flat()) {
    const { type, format } = messageKind(headers);
    if (type !== 'report' || value === null) continue;
    reader.clear();
    if (reader.read(value, format ?? undefined) !== 0) throw new Error('a report that cannot be read');
    const { id, flow, timeNs, path } = reader.record(0);
    const timeMs = Number(BigInt(timeNs) / 1000n) / 1000;
    found.set(id, { id, port: flow?.sourcePort ?? null, timeMs, hops: path.length });
  }
  return [...found.values()];
}

export async function windowsIn(link: KafkaLink, prefix: string, partitions: number): Promise<LatestWindows> {
  const windows = new LatestWindows();
  for (const { value } of (await committedIn(link, topicsOf(prefix).windows, partitions)).flat()) {
    windows.take(JSON.parse(textOf(value)) as AnyWindow);
  }
  return windows;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** What does not add up; empty if all does. */
export function disagreements(reports: readonly StoredReport[], windows: LatestWindows): string[] {
  const wrong = [...windows.wrong];
  const all = [...windows.byId.values()];
  const ofFlows = all.filter((window) => window.type === 'flowWindow');
  const ofSwitches = all.filter((window) => window.type === 'switchWindow');
  const inFlows = sum(ofFlows.map((window) => window.reports + window.late));
  const inSwitches = sum(ofSwitches.map((window) => window.reports + window.late));
  const withFlow = reports.filter(({ port }) => port !== null);
  const hops = sum(reports.map((report) => report.hops));
  if (inFlows !== withFlow.length) wrong.push(`windows of flows have ${inFlows} of ${withFlow.length} reports`);
  if (inSwitches !== hops) wrong.push(`windows of switches have ${inSwitches} of ${hops} hops`);
  const counted = new Map<string, number>();
  for (const { port, timeMs } of withFlow) {
    const name = `${port} ${Math.floor(timeMs / WINDOW_MS)}`;
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
  for (const window of ofFlows) {
    if (!window.complete) continue;
    const name = `${window.flow.sourcePort} ${Math.floor(Number(window.startNs) / 1e6 / WINDOW_MS)}`;
    const wanted = counted.get(name) ?? 0;
    if (window.reports !== wanted) wrong.push(`${window.id} is complete with ${window.reports} of ${wanted} reports`);
  }
  return wrong;
}
