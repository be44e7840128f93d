import type { CollectorTotals, DegradedPart, StatisticsSnapshot, SwitchStatistics } from '@int/collector';
import type { BaseUnit, Measured } from '@int/network';
import { SwitchUnits } from '@int/network/internals';
import type { KnownNetwork } from '../network/known-network.js';
import { measured, plainColumns } from '../network/measured-text.js';
import { switchText } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import { survivorsText } from './detection-summary.js';
import { type DetectionState, detectionView } from './detection-view.js';
import { degradedNames, degradedText } from './health-watch.js';
import { compact, counted, grouped } from './numbers.js';
import { busiest, repeatedFirst, worstSwitch } from './ranking.js';
import { flowText, pathText } from './record-text.js';
import { sinkLines, sinksText } from './sink-text.js';
import { sparkline } from './sparkline.js';

export interface LiveState {
  /** A short description of the source. */
  readonly source: string;
  readonly elapsedMs: number;
  readonly totals: CollectorTotals;
  /** Reports dropped by a pre-filter, if there is one. */
  readonly filtered?: number | null;
  readonly receivedPerSecond: number;
  readonly reportsPerSecond: number;
  readonly statistics: StatisticsSnapshot;
  /** State of detection; `null` without rules. */
  readonly detection: DetectionState | null;
  readonly degraded: readonly DegradedPart[];
  /** Names of switches. Default: none. */
  readonly network?: KnownNetwork;
  /** What frames that are not read look like. */
  readonly hint?: string | null;
}

/** Width of the figures before the sparkline, without those of {@link columnWidths}. */
const TABLE_WIDTH = 54;
const MIN_SPARK = 8;
const MAX_SPARK = 60;
/** Share of the lines for detection. */
const DETECTION_SHARE = 0.4;
/** Most degraded states shown. */
const MAX_DEGRADED = 3;
/** Lines around the switches and paths: title, figures, blank lines, headings, footer. */
const FIXED_ROWS = 9;

function clock(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? minutes : `${Math.floor(seconds / 3600)}:${minutes}`;
}

function sumDropped(totals: CollectorTotals): number {
  return Object.values(totals.dropped).reduce((sum, count) => sum + count, 0);
}

/** Drops by status and decoder code: `malformed 3, overrun 1 (BAD_STACK 2, BAD_TLV_LENGTH 1)`. */
export function dropText(totals: CollectorTotals): string {
  const present = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name} ${grouped(count)}`)
      .join(', ');
  const codes = present(totals.errors);
  const statuses = present(totals.dropped);
  return statuses === '' ? 'none' : codes === '' ? statuses : `${statuses} (${codes})`;
}

/** The last message of `int collect`. */
export function totalText(totals: CollectorTotals): string {
  return `${totals.received} received, ${totals.decoded} decoded, ${sumDropped(totals)} dropped`;
}

/** A line for a log, once a second. */
export function logLine(state: LiveState): string {
  const { totals, statistics, network = UNKNOWN_NETWORK } = state;
  const { device, topology } = network;
  const parts = [
    clock(state.elapsedMs),
    `${grouped(state.reportsPerSecond)} reports/s`,
    `${grouped(totals.received)} received`,
    `${grouped(totals.decoded)} decoded`,
    `${grouped(sumDropped(totals))} dropped`,
    `${totals.kernelDropped === null ? 'unknown' : grouped(totals.kernelDropped)} kernel drops`,
    ...(state.filtered == null ? [] : [`${grouped(state.filtered)} filtered`]),
    ...(totals.outages === undefined ? [] : [counted(totals.outages, 'outage')]),
    counted(statistics.switches.length, 'switch', 'switches'),
  ];
  const worst = worstSwitch(statistics.switches, network);
  if (worst !== null) {
    parts.push(
      `worst p99 ${measured(device, 'hopLatency', worst.hopLatency.p99, worst.nodeId)} at switch ${switchText(worst.nodeId, topology)}`,
    );
    parts.push(`queue peak ${measured(device, 'queueOccupancy', worst.queueOccupancy.peak, worst.nodeId)}`);
  }
  const sinks = sinksText(totals.sinks);
  if (sinks !== '') parts.push(sinks);
  const names = degradedNames(state.degraded);
  if (names !== '') parts.push(names);
  if (state.detection !== null) {
    parts.push(counted(state.detection.totals.events, 'event'), survivorsText(state.detection));
  }
  return parts.join('  ');
}

function degradedLines(degraded: readonly DegradedPart[]): string[] {
  const lines = degraded.slice(0, MAX_DEGRADED).map((part) => `degraded: ${degradedText(part)}`);
  const more = degraded.length - lines.length;
  return more > 0 ? [...lines, `degraded: and ${more} more`] : lines;
}

/** Truncates plain text to a width. */
function fit(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** Most switches in a table for the end of a run. */
const MOST_LISTED = 64;

/** Widths of the columns for queues and utilization: some units have long names. */
interface ColumnWidths {
  readonly queue: number;
  readonly utilization: number;
}

function columnWidths({ device }: KnownNetwork): ColumnWidths {
  const widthOf = (metric: Measured): number => {
    const { units } = new SwitchUnits(device, metric);
    return units.some((unit) => unit !== null && LONG.includes(unit.base)) ? 11 : 8;
  };
  return { queue: widthOf('queueOccupancy'), utilization: widthOf('egressUtilization') };
}

const LONG: readonly BaseUnit[] = ['cells', 'packets', 'bitsPerSecond'];

/** Width of the switch's name. */
const NAME_WIDTH = 10;

function switchLine(
  one: SwitchStatistics,
  sparkWidth: number,
  network: KnownNetwork,
  { queue, utilization }: ColumnWidths,
): string {
  const text = (metric: Measured, value: number | null): string => measured(network.device, metric, value, one.nodeId);
  const cells = [
    fit(one.nodeId === null ? 'others' : network.topology.switchText(one.nodeId), NAME_WIDTH).padStart(NAME_WIDTH),
    compact(one.reportsPerSecond).padStart(8),
    text('hopLatency', one.hopLatency.p50).padStart(9),
    text('hopLatency', one.hopLatency.p99).padStart(9),
    text('queueOccupancy', one.queueOccupancy.now).padStart(queue),
    text('queueOccupancy', one.queueOccupancy.peak).padStart(queue),
    text('egressUtilization', one.egressUtilization.now).padStart(utilization),
  ];
  const line = cells.join(' ');
  return sparkWidth < MIN_SPARK ? line : `${line}  ${sparkline(one.history, sparkWidth)}`;
}

function heading(sparkWidth: number, { queue, utilization }: ColumnWidths): string {
  const cells = [
    'switch'.padStart(NAME_WIDTH),
    'rep/s'.padStart(8),
    'lat p50'.padStart(9),
    'lat p99'.padStart(9),
    'queue'.padStart(queue),
    'peak'.padStart(queue),
    'util'.padStart(utilization),
  ];
  return `${cells.join(' ')}${sparkWidth < MIN_SPARK ? '' : `  p99, last ${sparkWidth} s`}`;
}

const COLUMNS: readonly (readonly [string, Measured])[] = [
  ['lat', 'hopLatency'],
  ['queue, peak', 'queueOccupancy'],
  ['util', 'egressUtilization'],
];

/** Says which columns hold plain numbers. */
function plainNote({ device }: KnownNetwork): string[] {
  const note = plainColumns(device, COLUMNS);
  return note === null ? [] : [note];
}

/** The switches as plain text, for the end of a run: the busiest, if they are many. */
export function switchTable(statistics: StatisticsSnapshot, network: KnownNetwork = UNKNOWN_NETWORK): string[] {
  const all = statistics.other === null ? statistics.switches : [...statistics.switches, statistics.other];
  const widths = columnWidths(network);
  const rows = busiest(all, MOST_LISTED).map((one) => switchLine(one, 0, network, widths));
  if (all.length > rows.length) rows.push(`  and ${all.length - rows.length} more`);
  return all.length === 0 ? [] : [heading(0, widths), ...rows, ...plainNote(network)];
}

/** The whole screen as lines that fit `columns` and `rows`. */
export function liveView(state: LiveState, columns: number, rows: number, colour: Colours): string[] {
  const { totals, statistics, network = UNKNOWN_NETWORK } = state;
  const { topology } = network;
  const width = Math.max(20, columns);
  const widths = columnWidths(network);
  const sparkWidth = Math.min(MAX_SPARK, width - TABLE_WIDTH - widths.utilization - widths.queue);
  const dropped = sumDropped(totals);
  const lost = (totals.kernelDropped ?? 0) > 0 || dropped > 0;
  const lines: string[] = [];
  lines.push(colour.bold(fit(`int collect  ${state.source}  ${clock(state.elapsedMs)}  Ctrl-C stops`, width)));
  const kernel = totals.kernelDropped === null ? 'unknown' : grouped(totals.kernelDropped);
  lines.push(
    fit(
      `${grouped(state.reportsPerSecond)} reports/s   received ${grouped(totals.received)}   decoded ` +
        `${grouped(totals.decoded)}   dropped ${grouped(dropped)}   kernel drops ${kernel}` +
        (state.filtered == null ? '' : `   filtered ${grouped(state.filtered)}`),
      width,
    ),
  );
  const drops = fit(`dropped: ${dropText(totals)}`, width);
  lines.push(lost ? colour.red(drops) : colour.dim(drops));
  const notices = [...degradedLines(state.degraded), ...(state.hint == null ? [] : [state.hint])];
  const degraded = notices.map((line) => colour.yellow(fit(line, width)));
  lines.push(...degraded, '');

  const detection =
    state.detection === null
      ? []
      : detectionView(state.detection, Math.floor(rows * DETECTION_SHARE), (text) => fit(text, width), colour, network);
  const sinks = sinkLines(totals.sinks).map((line) => colour.dim(fit(line, width)));
  const note = plainNote(network).map((line) => colour.dim(fit(line, width)));
  const others = note.length + detection.length + degraded.length + (sinks.length === 0 ? 0 : sinks.length + 2);
  const room = Math.max(2, rows - FIXED_ROWS - others);
  const all = statistics.other === null ? statistics.switches : [...statistics.switches, statistics.other];
  const pathRows = Math.min(
    statistics.congested.length,
    Math.max(1, room - Math.min(all.length, Math.ceil(room * 0.6))),
  );
  const switchRows = Math.max(1, room - pathRows);
  lines.push(colour.bold(fit(heading(sparkWidth, widths), width)));
  const worst = worstSwitch(statistics.switches, network);
  for (const one of busiest(all, switchRows)) {
    const line = fit(switchLine(one, sparkWidth, network, widths), width);
    lines.push(one === worst ? colour.yellow(line) : line);
  }
  if (all.length === 0) lines.push(colour.dim(fit('  no reports yet', width)));
  if (all.length > switchRows) lines.push(colour.dim(fit(`  and ${all.length - switchRows} more`, width)));
  lines.push(...note);

  if (sinks.length > 0) lines.push('', colour.bold(fit('sinks', width)), ...sinks);
  lines.push(...detection, '', colour.bold(fit('recently congested', width)));
  if (statistics.congested.length === 0) lines.push(colour.dim(fit('  nothing', width)));
  for (const one of repeatedFirst(statistics.congested).slice(0, pathRows)) {
    const time = new Date(one.timeMs).toISOString().slice(11, 23);
    const occupancy = (value: number | null): string => measured(network.device, 'queueOccupancy', value, one.nodeId);
    const depth = one.depth === null ? 'flagged' : `depth ${occupancy(one.depth)} (peak ${occupancy(one.peak)})`;
    const flow = one.flow === null ? '' : `  ${flowText(one.flow)}`;
    lines.push(
      fit(`  ${time}  ${pathText(one.path, topology)}  at ${switchText(one.nodeId, topology)}  ${depth}${flow}`, width),
    );
  }
  return lines.slice(0, rows);
}
