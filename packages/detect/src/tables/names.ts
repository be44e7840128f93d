/**
 * The names, numbers and widths that the P4 sink and the table export agree on. The README beside the P4 programs says the
 * same; a test compares the two.
 */

import { FIELDS } from '@int/codec';
import { AGGREGATES, OPERATORS } from '../expression/model.js';
import { DETECTOR_KINDS, type DetectorKind } from '../rules/model.js';

/** The control that all names begin with. */
const CONTROL = 'IntSink';

/** IP versions. Each has tables of its own: a key of 128 bits would waste three quarters on an IPv4 address. */
export type IpVersion = 4 | 6;

/** Rule tables, by IP version and bank. Only the bank in use decides; the other can be filled meanwhile. */
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

/** Expressions that one bank has room for. */
export const EXPRESSIONS = 64;

/** Registers that an export writes; those of the detectors' state it leaves alone. */
export const REGISTERS = {
  /** Cell 0: the bank in use, 0 or 1. */
  bank: `${CONTROL}.bank`,
  /** By expression: conditions of clause c in bits 4c + 3 to 4c; 0: no such clause. */
  logicClauses: `${CONTROL}.logic_clauses`,
  /** By expression: bit m set if it names metric m. */
  logicMetrics: `${CONTROL}.logic_metrics`,
  /** By expression: bit m set if a delta names metric m; bit 31 if there is a count or a delta. */
  logicHistory: `${CONTROL}.logic_history`,
  /** By expression, clause and condition: see {@link CONDITION_WORD}. */
  logicConditions: `${CONTROL}.logic_conditions`,
} as const;

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
 * Detectors that only hosts run. `change` would take a register cell for each hop position and metric of a flow;
 * `pathChange` compares whole sequences.
 */
export const HOST_DETECTORS: readonly DetectorKind[] = ['change', 'pathChange', 'baseline', 'rate', 'absent', 'burst'];

/** Metrics that the data plane reads: the items of INT v2.1 that have a name and are numbers of at most 32 bits. */
const METRIC_NUMBERS: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  FIELDS.flatMap(({ name, at, metric, isReserved }) =>
    at['2'] === undefined || metric === undefined || isReserved === true ? [] : [[name, metric]],
  ),
);

/** Number of a metric in the data plane; -1 if the data plane does not read it. */
export function metricNumber(name: string): number {
  return METRIC_NUMBERS.get(name) ?? -1;
}
