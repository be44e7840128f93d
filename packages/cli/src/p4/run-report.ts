import type { SwitchStatistics } from '@int/p4vm';
import { grouped } from '../output/numbers.js';

/** Names of drop reasons and faults for people. */
const WORDS: Readonly<Record<string, string>> = {
  ingress: 'dropped by ingress',
  egress: 'dropped by egress',
  emptyGroup: 'multicast to a group without ports',
  noSession: 'clones to a mirror session that is not configured',
  priority: 'dropped: no queue of that priority',
  queueFull: 'dropped: queue full',
  loop: 'dropped: endless loop',
  steps: 'dropped: more steps than one packet may take',
  size: 'dropped: longer than a packet may be',
  memory: 'dropped: no memory left',
  stackIndex: 'stack indices out of bounds',
  externIndex: 'indices of registers, counters or meters out of bounds',
  divisionByZero: 'divisions by zero',
  parserLoop: 'parser loops stopped',
  assertion: 'assertions that did not hold',
  internal: 'internal faults',
};

/** The counters of a run, a line each, without zeros. */
export function runText(statistics: SwitchStatistics, elapsedMs: number): string[] {
  const { received, transmitted, dropped, faults, ...rest } = statistics;
  const rate = elapsedMs > 0 ? `, ${grouped((received / elapsedMs) * 1000)} packets/s` : '';
  const lines = [`${grouped(received)} packets in, ${grouped(transmitted)} out${rate}`];
  const say = (count: number, what: string): void => {
    if (count > 0) lines.push(`${grouped(count)} ${what}`);
  };
  say(rest.parserErrors, 'parser errors');
  say(rest.checksumErrors, 'checksums wrong');
  say(rest.ingressClones + rest.egressClones, 'clones');
  say(rest.multicastCopies, 'multicast copies');
  say(rest.resubmitted, 'resubmitted');
  say(rest.recirculated, 'recirculated');
  for (const [name, count] of [...Object.entries(dropped), ...Object.entries(faults)]) say(count, WORDS[name] ?? name);
  return lines;
}

export function runJson(statistics: SwitchStatistics, elapsedMs: number): Record<string, unknown> {
  return { ...statistics, elapsedMs: Math.round(elapsedMs * 1000) / 1000 };
}
