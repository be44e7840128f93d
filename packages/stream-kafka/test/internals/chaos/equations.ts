/** What has to hold between the reports in the topic and the results in theirs, whatever has happened. */
import type { WindowCorrection } from '@int/stream';
import { topicsOf } from '../../../src/findings.js';
import type { KafkaLink } from '../../../src/kafka/link.js';
import { committedIn, textOf } from '../log.js';
import type { StoredReport } from './report-log.js';
import { type AnyWindow, LatestWindows } from './simulated-task.js';

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
  const all = [...windows.byName.values()];
  const ofFlows = all.filter((window) => window.type === 'flowWindow');
  const ofSwitches = all.filter((window) => window.type === 'switchWindow');
  const inFlows = sum(ofFlows.map(({ reports: own }) => own)) + windows.late.flowWindow;
  const inSwitches = sum(ofSwitches.map(({ reports: own }) => own)) + windows.late.switchWindow;
  const withFlow = reports.filter(({ flowWindow }) => flowWindow !== null);
  const hops = sum(reports.map(({ switchWindows }) => switchWindows.length));
  // The last of them may have had no window of its subject behind it.
  for (const [name, given, told] of [
    ['flows', ofFlows, windows.late.flowWindow],
    ['switches', ofSwitches, windows.late.switchWindow],
  ] as const) {
    const late = sum(given.map((window) => window.late));
    if (late > told) wrong.push(`windows of ${name} have ${late} late, of which corrections tell ${told}`);
  }
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
