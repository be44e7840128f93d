/** What has to hold between the reports in the topic and the results in theirs, whatever has happened. */
import { MessageReader, messageKind } from '@int/sink-kafka';
import type { WindowCorrection } from '@int/stream';
import { topicsOf } from '../../src/findings.js';
import type { KafkaLink } from '../../src/kafka/link.js';
import { flowKey } from '../../src/message-key.js';
import { committedIn, textOf } from '../log.js';
import { type AnyWindow, LatestWindows } from './simulated-task.js';

const WINDOW_US = 1_000_000n;

/** A report in the topic. */
export interface StoredReport {
  readonly id: string;
  /** Ids of the windows that it belongs to, of its flow and of its switches. */
  readonly flowWindow: string | null;
  readonly switchWindows: readonly string[];
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
    const startUs = BigInt(timeNs) / 1000n - ((BigInt(timeNs) / 1000n) % WINDOW_US);
    const flowWindow = flow === null ? null : `flow-${Buffer.from(flowKey(flow)).toString('hex')}-${startUs}`;
    found.set(id, { id, flowWindow, switchWindows: path.map((nodeId) => `switch-${nodeId}-${startUs}`) });
  }
  return [...found.values()];
}

export async function windowsIn(link: KafkaLink, prefix: string, partitions: number): Promise<LatestWindows> {
  const windows = new LatestWindows();
  for (const { value } of (await committedIn(link, topicsOf(prefix).windows, partitions)).flat()) {
    const found = JSON.parse(textOf(value)) as AnyWindow | WindowCorrection;
    if (found.type === 'windowCorrection') windows.correct(found);
    else windows.take(found);
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
  const withFlow = reports.filter(({ flowWindow }) => flowWindow !== null);
  const hops = sum(reports.map(({ switchWindows }) => switchWindows.length));
  if (inFlows !== withFlow.length) wrong.push(`windows of flows have ${inFlows} of ${withFlow.length} reports`);
  if (inSwitches !== hops) wrong.push(`windows of switches have ${inSwitches} of ${hops} hops`);
  const counted = new Map<string, number>();
  for (const { flowWindow, switchWindows } of reports) {
    for (const id of [flowWindow, ...switchWindows]) if (id !== null) counted.set(id, (counted.get(id) ?? 0) + 1);
  }
  // A window that is complete lacks nothing, and one that is not says how much has come too late for it.
  for (const [id, count] of counted) {
    const accounted = windows.accounted(id);
    if (accounted !== count) wrong.push(`${id} accounts for ${accounted} of ${count} reports`);
  }
  return wrong;
}
