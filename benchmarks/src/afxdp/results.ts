/** Figures as text, and what was asked for. */
import { type Chart, lineChart } from '@int/harness';
import { median } from '../decode/statistics.js';
import { breakEven, FILTERS, type Filtering, filterTargets } from './filtering.js';
import { type Monitor, type MonitorCosts, reportsPerSecond } from './monitor.js';
import { type Rounds, speedTargets, type Target } from './speed.js';

const NAME = 34;
const CELL = 12;

function row(name: string, cells: readonly string[]): string {
  return `  ${name.padEnd(NAME)}${cells.map((cell) => cell.padStart(CELL)).join('')}`;
}

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.01 ? 2 : 1)} %`;
const millions = (value: number): string => (value / 1e6).toFixed(2);
const spread = (values: readonly number[]): string =>
  values.length === 0 ? '' : `${Math.min(...values).toFixed(0)}-${Math.max(...values).toFixed(0)}`;

function printTargets(targets: readonly Target[]): void {
  for (const { what, value, limit, isMet } of targets) {
    console.log(`  ${isMet ? 'met   ' : 'missed'} ${what} ${limit}: ${value.toFixed(2)}`);
  }
}

export function printSpeed(results: readonly Rounds[]): void {
  console.log('\nreceive and decode, ns per report on the receiving core; M reports/s with more than can be received');
  console.log(row('', ['kernel', 'receiver', 'system', 'sum', 'min-max', 'at M/s', 'lost', 'M/s', 'lost']));
  for (const each of results) {
    const { name, kernelNs, receiverNs, systemShare, totalNs, rate, lost, flooded, floodedLost } = each;
    console.log(
      row(name, [
        median(kernelNs).toFixed(0),
        median(receiverNs).toFixed(0),
        `${(100 * median(systemShare)).toFixed(0)} %`,
        median(totalNs).toFixed(0),
        spread(totalNs),
        millions(rate),
        percent(median(lost)),
        millions(median(flooded)),
        percent(median(floodedLost)),
      ]),
    );
  }
  printTargets(speedTargets(results));
}

export function printFiltering(filtering: Filtering): void {
  const { costs, rate } = filtering;
  const shares = [...new Set(costs.map(({ share }) => share))];
  console.log(
    `\nfilter in the kernel, driver mode, ${millions(rate)} M/s: ns for each report that comes in, by its events`,
  );
  console.log(
    row(
      '',
      shares.map((share) => percent(share)),
    ),
  );
  for (const work of ['decode', 'message']) {
    for (const filter of FILTERS) {
      const list = costs.filter((each) => each.work === work && each.filter === filter);
      if (list.length === 0) continue;
      const cells = list.map(
        ({ kernelNs, receiverNs }) => `${median(kernelNs).toFixed(0)}+${median(receiverNs).toFixed(0)}`,
      );
      console.log(row(`${work}, ${filter === 'none' ? 'no filter' : filter}`, cells));
    }
  }
  const passed = costs.filter(({ filter }) => filter === 'array');
  console.log(
    row(
      'passed on (array)',
      shares.map((share) => percent(median(passed.find((each) => each.share === share)!.passed))),
    ),
  );
  for (const { work, filter, share } of breakEven(filtering)) {
    const text = share >= 1 ? 'always' : share < 0 ? 'never' : `up to ${percent(share)} events`;
    console.log(`  ${work}, ${filter}: cheaper than no filter ${text}`);
  }
  printTargets(filterTargets(filtering));
}

const hopsText = (hops: number): string => (hops === 1 ? '1 hop' : `${hops} hops`);

function lineOf({ costs, items }: Monitor, name: string, hops: number): MonitorCosts[] {
  return items.map((item) => costs.find((each) => each.name === name && each.hops === hops && each.items === item)!);
}

const namesOf = ({ costs }: Monitor): string[] => [...new Set(costs.map(({ name }) => name))];

export function printMonitor(monitor: Monitor): void {
  console.log(
    '\nreceive, decode, build the message, drop it: M reports/s of one core (1000 / ns of kernel and receiver)',
  );
  console.log(row('items a hop', monitor.items.map(String)));
  for (const name of namesOf(monitor)) {
    for (const hops of monitor.hops) {
      console.log(
        row(
          `${name}, ${hopsText(hops)}`,
          lineOf(monitor, name, hops).map((each) => millions(reportsPerSecond(each))),
        ),
      );
    }
  }
  if (monitor.costs.some(({ flooded }) => flooded.length === 0)) return;
  console.log('received of more than can be, M reports/s:');
  for (const name of namesOf(monitor)) {
    for (const hops of monitor.hops) {
      console.log(
        row(
          `${name}, ${hopsText(hops)}`,
          lineOf(monitor, name, hops).map(({ flooded }) => millions(median(flooded))),
        ),
      );
    }
  }
}

export function monitorChart(monitor: Monitor): Chart {
  const series = namesOf(monitor).flatMap((name, at) =>
    monitor.hops.map((hops, look) => ({
      label: `${hopsText(hops)}, ${name.split(',', 1)[0]}`,
      look,
      isDashed: at === 0,
      points: lineOf(monitor, name, hops).map((costs) => ({ x: costs.items, y: reportsPerSecond(costs) / 1e6 })),
    })),
  );
  return lineChart({
    title: 'Reports received, decoded and made into messages',
    description: `Millions of reports a second on one core, by items a hop, for ${series.map(({ label }) => label).join('; ')}.`,
    x: { label: 'items a hop', scale: 'categories', ticks: monitor.items },
    y: { label: 'M reports/s, one core', scale: 'linear' },
    series,
  });
}
