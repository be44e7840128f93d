/**
 * The names, numbers and widths that the P4 sink and the table export agree on. This module is the source of truth;
 * the README beside the P4 programs says the same in words, and a test holds the two together.
 */

import { FIELDS, type Field as MetadataField, type MetricName } from '@int/codec';
import { AGGREGATES, MAX_CLAUSES, MAX_CONDITIONS, OPERATORS } from '../expression/model.js';
import { DETECTOR_KINDS, type DetectorKind } from '../rules/model.js';

/** The control that all names begin with. */
const CONTROL = 'IntSink';

/** IP versions. Each has tables of its own: a 128-bit key would waste three quarters of itself on an IPv4 address. */
export type IpVersion = 4 | 6;

/**
 * Rule tables, by IP version and bank. Only the tables of the bank in use decide; those of the other can be filled
 * meanwhile.
 */
export const RULE_TABLES: { readonly [V in IpVersion]: readonly [a: string, b: string] } = {
  4: [`${CONTROL}.algorithm_ipv4_a`, `${CONTROL}.algorithm_ipv4_b`],
  6: [`${CONTROL}.algorithm_ipv6_a`, `${CONTROL}.algorithm_ipv6_b`],
};

/** Entries that each rule table has room for. */
export const TABLE_SIZE = 4096;

/** One key field of a rule table. */
export interface TableKey {
  readonly name: string;
  readonly kind: 'ternary' | 'range';
  /** Bits, by IP version. */
  readonly width: { readonly [V in IpVersion]: number };
}

/** Key fields of the rule tables, in order. */
export const TABLE_KEYS: readonly TableKey[] = [
  { name: 'source_address', kind: 'ternary', width: { 4: 32, 6: 128 } },
  { name: 'destination_address', kind: 'ternary', width: { 4: 32, 6: 128 } },
  { name: 'protocol', kind: 'ternary', width: { 4: 8, 6: 8 } },
  { name: 'source_port', kind: 'range', width: { 4: 16, 6: 16 } },
  { name: 'destination_port', kind: 'range', width: { 4: 16, 6: 16 } },
  { name: 'source_mac', kind: 'ternary', width: { 4: 48, 6: 48 } },
  { name: 'destination_mac', kind: 'ternary', width: { 4: 48, 6: 48 } },
];

/** A named field of so many bits. */
export interface Field {
  readonly name: string;
  readonly width: number;
}

/** An action of the rule tables. */
export interface TableAction {
  readonly name: string;
  /** In the order in which an entry gives them. */
  readonly parameters: readonly Field[];
}

/** Number of the rule, for the report. */
const RULE: Field = { name: 'rule', width: 32 };
/** Sampling: 0 is none. */
const ONE_IN: Field = { name: 'one_in', width: 32 };
/** Microseconds. */
const EVERY: Field = { name: 'every', width: 48 };

/** Actions of the rule tables. */
export const TABLE_ACTIONS = {
  /** Runs one of the detectors that look at one metric. */
  fastDetection: {
    name: `${CONTROL}.fast_detection`,
    parameters: [
      RULE,
      { name: 'algorithm', width: 8 },
      { name: 'metric', width: 8 },
      { name: 'scope', width: 8 },
      { name: 'threshold', width: 32 },
      { name: 'weight', width: 8 },
      ONE_IN,
      EVERY,
    ],
  },
  /** Evaluates an expression of the logic registers. */
  complexDetection: {
    name: `${CONTROL}.complex_detection`,
    parameters: [RULE, { name: 'index', width: 8 }, ONE_IN, EVERY],
  },
  /** Default action: reports everything. */
  reportAll: { name: `${CONTROL}.report_all`, parameters: [] },
  /** Default action: reports nothing. */
  reportNone: { name: `${CONTROL}.report_none`, parameters: [] },
} as const satisfies Record<string, TableAction>;

/** Flow cells: index = CRC-32 of the flow modulo this. A power of two. */
export const FLOW_CELLS = 65536;
/** Switch cells: index = switch id modulo this. A power of two. */
export const SWITCH_CELLS = 4096;
/** Metric numbers that the state registers have room for: 0 to 11. */
export const METRIC_CELLS = 12;
/** Expressions that one bank has room for. */
export const EXPRESSIONS = 64;
/** Hops that the sink's unrolled loops look at. */
export const MAX_HOPS = 8;

/** A register array. */
export interface Register {
  readonly name: string;
  /** Bits of a cell. */
  readonly width: number;
  readonly size: number;
}

/** Register arrays of the sink. All are zero at first. */
export const REGISTERS = {
  /** Cell 0: the bank in use, 0 or 1. */
  bank: { name: `${CONTROL}.bank`, width: 8, size: 1 },
  /** By flow: reports since the last one looked at, that one included. */
  sampleCount: { name: `${CONTROL}.sample_count`, width: 32, size: FLOW_CELLS },
  /** By flow: when the last report was looked at, in microseconds. */
  sampleTime: { name: `${CONTROL}.sample_time`, width: 48, size: FLOW_CELLS },
  /** By metric and switch: the value last reported. */
  perHopPrevious: { name: `${CONTROL}.per_hop_previous`, width: 32, size: METRIC_CELLS * SWITCH_CELLS },
  /** By metric and flow: the sum last reported. */
  perFlowPrevious: { name: `${CONTROL}.per_flow_previous`, width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By metric and flow: the scaled average. */
  averageAccumulator: { name: `${CONTROL}.average_accumulator`, width: 48, size: METRIC_CELLS * FLOW_CELLS },
  /** By metric and flow: the average last reported. */
  averageReported: { name: `${CONTROL}.average_reported`, width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By flow: reports that expressions with history have looked at. */
  complexCount: { name: `${CONTROL}.complex_count`, width: 32, size: FLOW_CELLS },
  /** By flow: bit m set if `complex_previous` holds a sum of metric m. */
  complexSeen: { name: `${CONTROL}.complex_seen`, width: 32, size: FLOW_CELLS },
  /** By metric and flow: the previous sum. */
  complexPrevious: { name: `${CONTROL}.complex_previous`, width: 32, size: METRIC_CELLS * FLOW_CELLS },
  /** By expression: conditions of clause c in bits 4c + 3 to 4c; 0: no such clause. */
  logicClauses: { name: `${CONTROL}.logic_clauses`, width: 32, size: 2 * EXPRESSIONS },
  /** By expression: bit m set if it names metric m. */
  logicMetrics: { name: `${CONTROL}.logic_metrics`, width: 32, size: 2 * EXPRESSIONS },
  /** By expression: bit m set if a delta names metric m; bit 31 if there is a count or a delta. */
  logicHistory: { name: `${CONTROL}.logic_history`, width: 32, size: 2 * EXPRESSIONS },
  /** By expression, clause and condition: see {@link CONDITION_WORD}. */
  logicConditions: {
    name: `${CONTROL}.logic_conditions`,
    width: 48,
    size: 2 * EXPRESSIONS * MAX_CLAUSES * MAX_CONDITIONS,
  },
} as const satisfies Record<string, Register>;

/** Bit of `logic_history` that says that the expression has a count or a delta. */
export const USES_HISTORY = 31;

/** Fields of a cell of `logic_conditions`: lowest bit and width. */
export const CONDITION_WORD = {
  constant: { low: 0, width: 32 },
  /** Metric number; 0xff for `count()`. */
  metric: { low: 32, width: 8 },
  operator: { low: 40, width: 4 },
  aggregate: { low: 44, width: 4 },
} as const;

/** The metric number where there is none. */
export const NO_METRIC_NUMBER = 0xff;

/** Scopes by number, as the `scope` parameter holds them. */
export const SCOPE_NUMBERS = { hop: 0, flow: 1, endToEnd: 2 } as const;

const numbers = <T extends string>(names: readonly T[]): { readonly [N in T]: number } =>
  Object.fromEntries(names.map((name, number) => [name, number])) as { readonly [N in T]: number };

/** Aggregates and operators by number. */
export const AGGREGATE_NUMBERS = /* @__PURE__ */ numbers(AGGREGATES);
export const OPERATOR_NUMBERS = /* @__PURE__ */ numbers(OPERATORS);

/** Detectors by number, as the `algorithm` parameter holds them. `complex` has an action of its own. */
export const DETECTOR_NUMBERS = /* @__PURE__ */ numbers(DETECTOR_KINDS);

/**
 * Detectors that only hosts run. `change` would take a register cell for each hop position and metric of a flow, and
 * `pathChange` compares whole sequences; the fast and complex detectors of the data plane are those of the paper.
 */
export const HOST_DETECTORS: readonly DetectorKind[] = ['change', 'pathChange'];

/** Where the data plane finds a metric in a hop's INT v2.1 metadata. */
export interface MetricItem {
  readonly metric: MetricName;
  /** Metric number. */
  readonly number: number;
  /** Bit of the instruction bitmap, 0 = most significant. */
  readonly instruction: number;
  /** 32-bit word of the item. */
  readonly word: number;
  /** Bits to the right of the metric in that word. */
  readonly shift: number;
  readonly width: number;
}

/** Where a field of INT v2.1 lies: the fields of an instruction stand one behind the other. */
function itemOf(field: MetadataField): MetricItem {
  const instruction = field.at['2']!;
  const fields = FIELDS.filter(({ at, isReserved }) => at['2'] === instruction && isReserved !== true);
  const front = fields.slice(0, fields.indexOf(field)).reduce((sum, { bits }) => sum + bits, 0);
  const word = front >>> 5;
  const { metric, bits } = field;
  return {
    metric: field.name as MetricName,
    number: metric!,
    instruction,
    word,
    shift: 32 * (word + 1) - front - bits,
    width: bits,
  };
}

/** Metrics that the data plane takes: the items of INT v2.1 that have a name and are numbers of at most 32 bits. */
export const METRIC_ITEMS: readonly MetricItem[] = /* @__PURE__ */ FIELDS.filter(
  ({ at, metric, isReserved }) => at['2'] !== undefined && metric !== undefined && isReserved !== true,
)
  .map(itemOf)
  .sort((a, b) => a.number - b.number);
