/** Figures as text. */
import type { Sample } from './collector.js';
import type { Growth } from './growth.js';
import type { Trial } from './search.js';
import type { Account } from './traffic.js';

const WIDTH = 13;

function line(cells: readonly (string | number)[]): void {
  const text = cells.map((cell) => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en-US') : cell));
  console.log(text.map((cell) => cell.padStart(WIDTH)).join(''));
}

const PARTS = ['sent', 'received', 'cable', 'rxDropped', 'rxRingFull', 'noSocket', 'missing'] as const;

export function printTrials(trials: readonly Trial[]): void {
  if (trials.length === 0) return;
  console.log('\nhighest rate at which the kernel has room for all but a thousandth of the frames');
  line(['frames/s', 'reached', ...PARTS, 'borne']);
  for (const { rate, reached, account, isBorne } of trials) {
    line([rate, reached, ...PARTS.map((part) => account[part]), isBorne ? 'yes' : 'no']);
  }
}

export function printAccount(account: Account, rate: number, seconds: number, last: Sample): void {
  const reached = Math.round(account.sent / seconds).toLocaleString('en-US');
  console.log(`\n${seconds.toFixed(0)} s, ${rate.toLocaleString('en-US')} frames/s asked for, ${reached} sent`);
  line([...PARTS, 'events', 'switches']);
  line([...PARTS.map((part) => account[part]), last.events, last.switches]);
  const verdict = account.missing === 0 ? 'met   ' : 'missed';
  console.log(`  ${verdict} frames neither received nor counted as dropped, 0: ${account.missing}`);
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(2)}`;

export function printGrowth(growth: readonly Growth[]): void {
  console.log('\nmemory of the collector, MiB, a line fitted to the last 80 % of the time');
  line(['', 'from', 'to', 'bytes/s']);
  for (const { what, from, to, bytesPerSecond } of growth) line([what, mib(from), mib(to), bytesPerSecond]);
  for (const { what, from, to, limit, isMet } of growth) {
    console.log(`  ${isMet ? 'met   ' : 'missed'} growth of ${what}, at most ${mib(limit)} MiB: ${mib(to - from)}`);
  }
}
