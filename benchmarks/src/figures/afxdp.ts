/** Figures of receiving reports past the network stack. */
import { markdownTable, paragraph } from '@int/harness';
import { type BreakEven, FILTERS, type Filtering, filterTargets } from '../afxdp/filtering.js';
import { type Monitor, reportsPerSecond } from '../afxdp/monitor.js';
import { MODES, type Mode, type Rounds, speedTargets } from '../afxdp/speed.js';
import { median } from '../decode/statistics.js';
import { one, percent, pick, results, two, whole } from './reading.js';

interface Receiving {
  readonly speed: readonly Rounds[];
  readonly filtering: Filtering;
  readonly breakEven: readonly BreakEven[];
  readonly monitor: Monitor;
}

const read = () => results<Receiving>('afxdp');

/** Against C, and `node:dgram` against ours. */
function ratios(mode: Mode): { toC: number; toDgram: number } {
  const [toC, toDgram] = speedTargets(read().speed).slice(2 * MODES.indexOf(mode));
  return { toC: toC!.value, toDgram: toDgram!.value };
}

function targets(): string {
  const [driver, generic] = MODES.map(ratios) as [ReturnType<typeof ratios>, ReturnType<typeof ratios>];
  return paragraph(
    'The targets are at most 1.3 times the cost of the C receiver, and at most a tenth of the cost of `node:dgram`, kernel',
    `included. The benchmark prints for each mode whether they are met. Driver mode: ${two(driver.toC)} and ${one(driver.toDgram)}. Generic mode:`,
    `${two(generic.toC)} and ${one(generic.toDgram)}; there the kernel makes a packet of its own of each frame before the program sees it, a cost that no`,
    'receiver can avoid.',
  );
}

/** The largest ratio to no filter up to 10 % events. */
function largest(work: string, filter: string): number {
  const wanted = `filter (${filter}) / no filter, ${work},`;
  return pick(filterTargets(read().filtering), wanted, ({ what }) => what.startsWith(wanted)).value;
}

function filter(): string {
  const all = read();
  return markdownTable(
    ['', 'decode', 'decode, message'],
    FILTERS.filter((name) => name !== 'none').map((name) => [
      name,
      ...['decode', 'message'].map((work) => {
        // `null` in JSON: always.
        const { share } = pick<{ work: string; filter: string; share: number | null }>(
          all.breakEven,
          `break-even of ${name}`,
          (each) => each.work === work && each.filter === name,
        );
        const upTo = share === null || share >= 1 ? 'always' : share < 0 ? 'never' : `up to ${percent(share, 0)}`;
        return `${two(largest(work, name))}, ${upTo}`;
      }),
    ]),
  );
}

const leastOf = (suits: (each: Rounds) => boolean): number =>
  Math.min(
    ...read()
      .speed.filter(suits)
      .map(({ totalNs }) => median(totalNs)),
  );

/** For FIGURES.md. */
function some(): string {
  const { monitor } = read();
  const isOfC = ({ name }: { readonly name: string }): boolean => name.startsWith('C,');
  const rows = MODES.map((mode) => {
    const { toC, toDgram } = ratios(mode);
    const others =
      mode === 'driver'
        ? [
            leastOf(({ group }) => group === 'recvmmsg'),
            leastOf(({ group }) => group === 'dgram' || group === 'source'),
          ]
        : [];
    return [
      `${mode} mode`,
      whole(leastOf((each) => each.group === mode && isOfC(each))),
      whole(leastOf((each) => each.group === mode && !isOfC(each))),
      two(toC),
      ...(others.length === 0 ? ['', ''] : others.map(whole)),
      one(toDgram),
    ];
  });
  const millions = (ofC: boolean): string => {
    const rates = monitor.costs.filter((each) => isOfC(each) === ofC).map(reportsPerSecond);
    return `${one(Math.min(...rates) / 1e6)} to ${one(Math.max(...rates) / 1e6)}`;
  };
  return [
    markdownTable(
      ['', 'C, AF_XDP', '`@int/afxdp`', 'ratio to C', 'C, recvmmsg', '`node:dgram`', '`node:dgram` to ours'],
      rows,
    ),
    paragraph(
      'Ratios are medians over the rounds. With a filter in the kernel that counts dropped reports by switch, an incoming report',
      `costs at most ${two(largest('decode', 'array'))} times as much as without, if up to 10 % of the reports have an event. If each received report is also made`,
      `into a message, the factor is ${two(largest('message', 'array'))}. A monitor that receives, decodes and builds a message for Kafka handles`,
      `${millions(false)} million reports a second on one core, with 1 to 4 hops of 1 to 8 items; one in C handles ${millions(true)}.`,
    ),
  ].join('\n\n');
}

/** How many times as much a report by `node:dgram` costs. */
export const dgramRatio = (): number => ratios('driver').toDgram;

export const afxdp = { 'afxdp-targets': targets, 'afxdp-filter': filter, 'afxdp-some': some };
