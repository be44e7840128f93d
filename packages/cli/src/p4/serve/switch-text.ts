/** Switches and their ports as lines of text and of JSON. */
import type { PortCounts, SwitchCounts } from '@int/p4switch';
import { fit, inLines } from '../../live/text-width.js';
import type { Colours } from '../../output/colour.js';
import { clock } from '../../output/live-state.js';
import { compact, grouped } from '../../output/numbers.js';
import type { ControlCounts } from './control-server.js';
import type { ServedSwitch } from './served-switch.js';

/** A port at one moment. */
export interface PortReading {
  readonly number: number;
  readonly name: string;
  readonly isUp: boolean;
  readonly counts: PortCounts;
  readonly depth: number;
  readonly maxDepth: number;
}

/** A switch at one moment. */
export interface SwitchReading {
  readonly name: string;
  readonly deviceId: bigint;
  readonly hasPipeline: boolean;
  readonly counts: SwitchCounts;
  readonly ports: readonly PortReading[];
}

export function readSwitch({ name, deviceId, core }: ServedSwitch): SwitchReading {
  return {
    name,
    deviceId,
    hasPipeline: core.machine !== null,
    counts: core.counts(),
    ports: [...core.ports]
      .sort((a, b) => a.number - b.number)
      .map(({ number, port }) => {
        const { depth = 0, maxDepth = 0 } = core.queue(number) ?? {};
        return { number, name: port.name, isUp: port.isUp, counts: port.counts(), depth, maxDepth };
      }),
  };
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/** `queueFull 3, noPort 1`; `none`. */
function dropText(dropped: Readonly<Record<string, number>>): string {
  const some = Object.entries(dropped).filter(([, count]) => count > 0);
  return some.length === 0 ? 'none' : some.map(([reason, count]) => `${reason} ${grouped(count)}`).join(', ');
}

/** All drops of a switch and its ports, by reason. */
function allDrops({ counts, ports }: SwitchReading): Readonly<Record<string, number>> {
  const all: Record<string, number> = { ...counts.dropped };
  for (const { counts: of } of ports) {
    for (const [reason, count] of Object.entries(of.dropped)) all[reason] = (all[reason] ?? 0) + count;
  }
  return all;
}

const WIDTHS = [40, 5, 9, 9, 8, 8, 7, 9] as const;
const HEADINGS = ['port', 'state', 'in/s', 'out/s', 'Mbit/s in', 'out', 'queue', 'dropped'] as const;

function row(cells: readonly string[]): string {
  return cells.map((cell, at) => (at < 2 ? cell.padEnd(WIDTHS[at]!) : cell.padStart(WIDTHS[at]!))).join(' ');
}

function portRow(port: PortReading, before: PortReading | undefined, seconds: number): string {
  const rate = (of: (counts: PortCounts) => number): number =>
    before === undefined || seconds <= 0 ? 0 : Math.max(0, of(port.counts) - of(before.counts)) / seconds;
  const megabits = (bytesPerSecond: number): string => ((bytesPerSecond * 8) / 1e6).toFixed(1);
  return row([
    `  ${port.number} ${port.name}`,
    port.isUp ? 'up' : 'down',
    compact(rate(({ received }) => received)),
    compact(rate(({ sent }) => sent)),
    megabits(rate(({ receivedBytes }) => receivedBytes)),
    megabits(rate(({ sentBytes }) => sentBytes)),
    compact(port.depth),
    compact(sum({ ...port.counts.dropped })),
  ]);
}

/** A live view: a part for each switch, in lines that fit a width. */
export function viewLines(
  title: string,
  elapsedMs: number,
  now: readonly SwitchReading[],
  before: readonly SwitchReading[],
  seconds: number,
  width: number,
  colour: Colours,
): string[] {
  const lines = [colour.bold(fit(`${title}  ${clock(elapsedMs)}`, width))];
  for (const [at, reading] of now.entries()) {
    const { name, deviceId, hasPipeline, counts, ports } = reading;
    const earlier = before[at];
    const perSecond = earlier === undefined || seconds <= 0 ? 0 : (counts.received - earlier.counts.received) / seconds;
    const drops = allDrops(reading);
    const state = hasPipeline ? `${grouped(perSecond)} packets/s` : 'waits for a pipeline';
    const dropped = fit(`dropped: ${dropText(drops)}`, width);
    const figures = [
      `received ${grouped(counts.received)}`,
      `sent ${grouped(counts.transmitted)}`,
      `to controller ${grouped(counts.packetsIn)}`,
      `waiting ${grouped(counts.waiting)}`,
      `digests ${grouped(counts.digests)}`,
    ];
    lines.push(
      '',
      colour.bold(fit(`${name}, device ${deviceId}: ${state}`, width)),
      ...inLines(figures, width),
      sum(drops) > 0 ? colour.yellow(dropped) : dropped,
      colour.dim(fit(row(HEADINGS), width)),
      ...ports.map((port) => {
        const same = earlier?.ports.find(({ number }) => number === port.number);
        return fit(portRow(port, same, seconds), width);
      }),
    );
  }
  return lines;
}

/** A line for a log. */
export function logLine(
  elapsedMs: number,
  now: readonly SwitchReading[],
  before: readonly SwitchReading[],
  seconds: number,
): string {
  const parts = now.map((reading, at) => {
    const { name, counts } = reading;
    const earlier = before[at];
    const perSecond = earlier === undefined || seconds <= 0 ? 0 : (counts.received - earlier.counts.received) / seconds;
    return `${name}: ${grouped(perSecond)} packets/s, ${grouped(counts.received)} in, ${grouped(counts.transmitted)} out, ${grouped(sum(allDrops(reading)))} dropped`;
  });
  return [clock(elapsedMs), ...parts].join('  ');
}

/** The summary of a switch. */
export function totalLines(reading: SwitchReading): string[] {
  const { name, counts, ports } = reading;
  return [
    ...ports.map(
      ({ number, name: port, counts: of }) =>
        `${name} port ${number} (${port}): ${grouped(of.received)} in, ${grouped(of.sent)} out, dropped: ${dropText({ ...of.dropped })}`,
    ),
    `${name}: ${grouped(counts.received)} received, ${grouped(counts.transmitted)} sent, dropped: ${dropText(counts.dropped)}`,
  ];
}

/** What went wrong with controllers; null: nothing. */
export function controlText({ faults, refused }: ControlCounts): string | null {
  const parts = [];
  if (sum({ ...refused }) > 0) parts.push(`clients turned away: ${dropText({ ...refused })}`);
  if (faults > 0) parts.push(`faults of the server: ${grouped(faults)}`);
  return parts.length === 0 ? null : `controllers: ${parts.join('; ')}`;
}

/** A reading as the members of a JSON object. */
export function readingJson({ name, deviceId, hasPipeline, counts, ports }: SwitchReading): object {
  return {
    switch: name,
    deviceId: Number(deviceId),
    hasPipeline,
    ...counts,
    ports: Object.fromEntries(
      ports.map(({ number, name: port, isUp, counts: of, depth, maxDepth }) => [
        number,
        { name: port, isUp, ...of, queue: { depth, maxDepth } },
      ]),
    ),
  };
}
