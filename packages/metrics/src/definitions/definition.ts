import type { PipelineParts } from '../options.js';

/** Values of a label, one for each row. */
export interface LabelColumn {
  readonly name: string;
  readonly values: Uint32Array | readonly string[];
  /** The label of the rows after the last of `values`. */
  readonly rest?: string;
  /** A row whose value is an empty text has no such label. */
  readonly isOptional?: true;
}

/** The values of a counter or gauge, a row per combination of labels. */
export interface ValueRows {
  readonly labels: readonly LabelColumn[];
  readonly values: Float64Array | Uint32Array | readonly number[];
}

/** The values of a histogram. */
export interface HistogramRows {
  readonly labels: readonly LabelColumn[];
  /** Upper bounds of the buckets, in the exported unit; inclusive. */
  readonly bounds: readonly number[];
  /** `bounds.length + 1` counts per row, not cumulative; the last one counts values above the last bound. */
  readonly counts: Float64Array;
  /** The sum of all values of each row, in the exported unit. */
  readonly sums: Float64Array;
}

interface Named {
  /** The name without the prefix. */
  readonly name: string;
  readonly help: string;
}

/**
 * A metric: its name, its help text and its values. The values are the pipeline's own counters. There are no second
 * counters that could differ from them.
 */
export type MetricDefinition =
  | (Named & { readonly type: 'counter' | 'gauge'; readonly read: (pipeline: PipelineReading) => ValueRows })
  | (Named & { readonly type: 'histogram'; readonly read: (pipeline: PipelineReading) => HistogramRows });

/** A metric with its values: plain data, from which another thread can make a page. */
export type MetricFamily =
  | (Named & ValueRows & { readonly type: 'counter' | 'gauge' })
  | (Named & HistogramRows & { readonly type: 'histogram' });

const metric =
  (type: 'counter' | 'gauge') =>
  (name: string, help: string, read: (pipeline: PipelineReading) => ValueRows): MetricDefinition => ({
    type,
    name,
    help,
    read,
  });
export const counter = metric('counter');
export const gauge = metric('gauge');

/** Reads all metrics at one moment. */
export function readFamilies(definitions: readonly MetricDefinition[], parts: PipelineParts): MetricFamily[] {
  const reading = readingOf(parts);
  return definitions.map((definition) => readFamily(definition, reading));
}

/** Reads a single metric. */
export function readFamily(definition: MetricDefinition, reading: PipelineReading): MetricFamily {
  const { name, help } = definition;
  return definition.type === 'histogram'
    ? { type: definition.type, name, help, ...definition.read(reading) }
    : { type: definition.type, name, help, ...definition.read(reading) };
}

const READERS = {
  totals: ({ collector }: PipelineParts) => collector!.totals(),
  degraded: ({ degraded, collector }: PipelineParts) => degraded?.() ?? collector?.degraded?.() ?? [],
  switches: ({ switches }: PipelineParts) => switches!.columns(),
  detection: ({ detection }: PipelineParts) => detection!.totals(),
  flows: ({ flows }: PipelineParts) => flows!.totals(),
  loss: ({ loss }: PipelineParts) => loss!.columns(),
};

/** The counts of a pipeline's parts. */
export type PipelineReading = { readonly [Part in keyof typeof READERS]: ReturnType<(typeof READERS)[Part]> };

/** Reads each part once, when it is first needed. */
export function readingOf(parts: PipelineParts): PipelineReading {
  const known = new Map<string, unknown>();
  const reading = Object.entries(READERS).map(([part, read]) => {
    const get = (): unknown => {
      if (!known.has(part)) known.set(part, read(parts));
      return known.get(part);
    };
    return [part, { get }];
  });
  return Object.defineProperties({}, Object.fromEntries(reading)) as PipelineReading;
}

/** The rows of a metric without labels. */
export const one = (value: number): ValueRows => ({ labels: [], values: [value] });

/** Rows from values with their label texts, in the order of `names`. */
export function labelled(
  names: readonly string[],
  rows: readonly { readonly of: readonly string[]; readonly value: number }[],
): ValueRows {
  return {
    labels: names.map((name, index) => ({ name, values: rows.map(({ of }) => of[index]!) })),
    values: rows.map(({ value }) => value),
  };
}

/** Rows from the entries of an object, by one label. */
export function byKey(name: string, entries: Iterable<readonly [string, number]>): ValueRows {
  return labelled(
    [name],
    [...entries].map(([key, value]) => ({ of: [key], value })),
  );
}

/** The names of ids, as a label beside that of the ids; none without names. */
export function nameColumns(
  name: string,
  ids: Uint32Array,
  nameOf: ((id: number, row: number) => string | null) | null,
): LabelColumn[] {
  if (nameOf === null) return [];
  return [{ name, values: Array.from(ids, (id, row) => nameOf(id, row) ?? ''), isOptional: true }];
}

/** Whether a row has a label. */
export function hasLabel(column: LabelColumn, row: number): boolean {
  return column.isOptional !== true || labelAt(column, row) !== '';
}

/** A label's value at a row. */
export function labelAt({ values, rest = '' }: LabelColumn, row: number): string | number {
  return row < values.length ? values[row]! : rest;
}
