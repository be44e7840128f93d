import type { MetricName } from '@int/codec';
import type { StatisticsSnapshot, SwitchStatistics } from '@int/collector';
import type { MetricText } from '../output/metric-text.js';
import { compact } from '../output/numbers.js';
import { busiest } from '../output/ranking.js';
import { sparkline } from '../output/sparkline.js';
import type { Controls, Sort } from './controls.js';
import { passes } from './filter.js';
import type { Panel } from './panel.js';
import { left, right } from './text-width.js';
import { byTrouble, type Trouble, troubles, troubleText } from './trouble.js';

interface Column {
  readonly head: string;
  readonly width: number;
  /** Order in which columns find room, the most important first. */
  readonly rank: number;
  readonly cell: (one: SwitchStatistics, metrics: MetricText) => string;
}

const nameOf = ({ nodeId }: SwitchStatistics, metrics: MetricText): string =>
  nodeId === null ? 'others' : metrics.switchName(nodeId);

/** A column of values, as wide as their units need. */
function valueColumn(
  head: string,
  rank: number,
  width: number,
  metric: MetricName,
  of: (one: SwitchStatistics) => number | null,
  metrics: MetricText,
): Column {
  return {
    head,
    width: Math.max(width, metrics.width(metric)),
    rank,
    cell: (one) => metrics.cell(metric, of(one), one.nodeId),
  };
}

const NAME_COLUMN: Column = { head: 'switch', width: 10, rank: 0, cell: nameOf };
const RATE_COLUMN: Column = { head: 'rep/s', width: 7, rank: 5, cell: (one) => compact(one.reportsPerSecond) };

/** Columns in the order in which they are shown. */
function columnsOf(metrics: MetricText): readonly Column[] {
  return [
    NAME_COLUMN,
    RATE_COLUMN,
    valueColumn('lat p50', 6, 8, 'hopLatency', (one) => one.hopLatency.p50, metrics),
    valueColumn('lat p99', 1, 8, 'hopLatency', (one) => one.hopLatency.p99, metrics),
    valueColumn('queue', 4, 8, 'queueOccupancy', (one) => one.queueOccupancy.now, metrics),
    valueColumn('peak', 2, 8, 'queueOccupancy', (one) => one.queueOccupancy.peak, metrics),
    valueColumn('util', 3, 7, 'egressUtilization', (one) => one.egressUtilization.now, metrics),
  ];
}
const LEAST_TROUBLE = 12;
const WIDE_TROUBLE = 44;
const MIN_SPARK = 8;
const MAX_SPARK = 60;

const longest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, text.length), 0);

interface Widths {
  readonly columns: readonly Column[];
  /** Of the name of a switch. */
  readonly name: number;
  readonly trouble: number;
  /** Of the history; 0: there is no room for it. */
  readonly spark: number;
}

function widthsOf(
  width: number,
  switches: readonly SwitchStatistics[],
  metrics: MetricText,
  troubleWidth: number,
): Widths {
  const longestName = longest(switches.map((one) => nameOf(one, metrics)));
  // What no switch reports takes no room.
  const hasValues = (column: Column): boolean =>
    switches.length === 0 ||
    switches.some((one) => column.cell(one, metrics) !== metrics.cell('hopLatency', null, null));
  const columns = columnsOf(metrics);
  let free = width - LEAST_TROUBLE - 2;
  const chosen = new Set<Column>();
  for (const column of columns.filter(hasValues).sort((a, b) => a.rank - b.rank)) {
    if (column.width + 1 > free && chosen.size > 0) break;
    chosen.add(column);
    free -= column.width + 1;
  }
  free = Math.max(0, free);
  const widen = (upTo: number): number => {
    const more = Math.max(0, Math.min(upTo, free));
    free -= more;
    return more;
  };
  const trouble = LEAST_TROUBLE + widen(Math.min(WIDE_TROUBLE, troubleWidth) - LEAST_TROUBLE);
  const name = NAME_COLUMN.width + widen(longestName - NAME_COLUMN.width);
  const spark = Math.min(MAX_SPARK, free - 2);
  return {
    columns: columns.filter((column) => chosen.has(column)),
    name,
    trouble,
    spark: spark < MIN_SPARK ? 0 : spark,
  };
}

const widthOfColumn = (column: Column, { name }: Widths): number => (column.rank === 0 ? name : column.width);

function heading(widths: Widths, hasTrouble: boolean): string {
  const cells = widths.columns.map((column) => right(column.head, widthOfColumn(column, widths))).join(' ');
  if (!hasTrouble) return cells;
  const spark = widths.spark === 0 ? '' : left(`lat p99 by second, ${widths.spark} s`, widths.spark);
  return `${cells}  ${left('trouble 10 s', widths.trouble)}  ${spark}`.trimEnd();
}

function figures(one: SwitchStatistics, widths: Widths, metrics: MetricText): string {
  return widths.columns.map((column) => right(column.cell(one, metrics), widthOfColumn(column, widths))).join(' ');
}

/** What the units of a table are where its cells do not tell: `lat, queue, util in device units`. */
function unitsText(metrics: MetricText): string {
  const names = new Map<string, string[]>();
  for (const [metric, name] of [
    ['hopLatency', 'lat'],
    ['queueOccupancy', 'queue'],
    ['egressUtilization', 'util'],
  ] as const) {
    const unit = metrics.unit(metric);
    if (unit !== '') names.set(unit, [...(names.get(unit) ?? []), name]);
  }
  return [...names].map(([unit, metric]) => `${metric.join(', ')} in ${unit}`).join('; ');
}

function compare(
  sort: Sort,
  found: ReadonlyMap<SwitchStatistics, Trouble>,
  metrics: MetricText,
): (a: SwitchStatistics, b: SwitchStatistics) => number {
  const byId = (a: SwitchStatistics, b: SwitchStatistics): number =>
    (a.nodeId ?? Number.POSITIVE_INFINITY) - (b.nodeId ?? Number.POSITIVE_INFINITY) || 0;
  const most = (of: (one: SwitchStatistics) => number | null) => (a: SwitchStatistics, b: SwitchStatistics) =>
    (of(b) ?? -1) - (of(a) ?? -1) || byId(a, b);
  const mostOf = (metric: MetricName, of: (one: SwitchStatistics) => number | null) =>
    most((one) => {
      const value = of(one);
      return value === null ? null : metrics.comparable(metric, value, one.nodeId);
    });
  switch (sort) {
    case 'trouble':
      return (a, b) => byTrouble(found.get(a), found.get(b)) || byId(a, b);
    case 'switch':
      return byId;
    case 'reports':
      return most((one) => one.reportsPerSecond);
    case 'latency':
      return mostOf('hopLatency', (one) => one.hopLatency.p99);
    case 'queue':
      return mostOf('queueOccupancy', (one) => one.queueOccupancy.peak);
    case 'util':
      return mostOf('egressUtilization', (one) => one.egressUtilization.now);
  }
}

/** The switches: those that have trouble first, unless the user wants another order. */
export function switchPanel(
  statistics: StatisticsSnapshot,
  events: ReadonlyMap<number, number>,
  { sort, filter }: Controls,
  metrics: MetricText,
  width: number,
): Panel {
  const all = statistics.other === null ? statistics.switches : [...statistics.switches, statistics.other];
  const found = troubles(statistics, events, metrics);
  const shown = all
    .filter((one) => passes(filter, { switches: [one.nodeId], words: [nameOf(one, metrics)] }))
    .sort(compare(sort, found, metrics));
  const texts = shown.map((one) => {
    const trouble = found.get(one);
    return trouble === undefined ? '' : troubleText(trouble);
  });
  const widths = widthsOf(width, shown, metrics, longest(texts));
  const entries = shown.map((one, index) => {
    const spark = widths.spark === 0 ? '' : sparkline(one.history, widths.spark);
    const text = `${figures(one, widths, metrics)}  ${left(texts[index]!, widths.trouble)}  ${spark}`.trimEnd();
    return [found.has(one) ? { text, mark: 'yellow' as const } : { text }];
  });
  const title = [
    `Switches ${all.length}, ${found.size} with trouble`,
    sort === 'trouble' ? '' : `by ${sort}`,
    unitsText(metrics),
  ].filter((part) => part !== '');
  return {
    name: 'switches',
    title: title.join('  '),
    heading: heading(widths, true),
    entries,
    // In any order: who asks for one wants to see them.
    urgent: shown.filter((one) => found.has(one)).length,
    nothing: all.length === 0 ? 'no reports yet' : 'no switch matches the filter',
  };
}

/** Most switches in a table for the end of a run. */
const MOST_LISTED = 64;
/** How the units of cells without one are named. */
const NAME_UNITS = '; name them with --unit or --device';

/** The switches as plain text, for the end of a run: a line about the units if the cells do not tell, heads, a line each. */
export function switchTable(statistics: StatisticsSnapshot, metrics: MetricText): string[] {
  const all = statistics.other === null ? statistics.switches : [...statistics.switches, statistics.other];
  if (all.length === 0) return [];
  const shown = busiest(all, MOST_LISTED);
  const names = longest(shown.map((one) => nameOf(one, metrics)));
  const needed = columnsOf(metrics).reduce((sum, { width }) => sum + width + 1, LEAST_TROUBLE + 2);
  const widths = widthsOf(needed + names, shown, metrics, 0);
  const units = unitsText(metrics);
  return [
    ...(units === '' ? [] : [`switches, last 10 s: ${units}${units.includes('device units') ? NAME_UNITS : ''}`]),
    heading(widths, false),
    ...shown.map((one) => figures(one, widths, metrics)),
    ...(shown.length < all.length ? [`  and ${all.length - shown.length} more`] : []),
  ];
}
