import { readFileSync } from 'node:fs';
import { METRICS, metricOf } from '@int/codec';
import { describe, expect, it } from 'vitest';
import { AGGREGATES, MAX_CLAUSES, MAX_CONDITIONS, OPERATORS } from '../../../src/expression/model.js';
import { DETECTOR_KINDS } from '../../../src/rules/model.js';
import {
  AGGREGATE_NUMBERS,
  CONDITION_WORD,
  DETECTOR_NUMBERS,
  EXPRESSIONS,
  HOST_DETECTORS,
  metricNumber,
  NO_METRIC_NUMBER,
  OPERATOR_NUMBERS,
  RULE_TABLES,
  SCOPE_NUMBERS,
  TABLE_ACTIONS,
  TABLE_KEYS,
  TABLE_SIZE,
  USES_HISTORY,
} from '../../../src/tables/names.js';
import { FLOW_CELLS, MAX_HOPS, METRIC_CELLS, METRIC_ITEMS, REGISTERS, SWITCH_CELLS } from './data-plane.js';

/** Blanks and line breaks are alike. */
const README = readFileSync(new URL('../../../../../p4/README.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');

describe('the names of the data plane', () => {
  it('stand in the README of the P4 programs, with their numbers', () => {
    const expected = [
      ...([4, 6] as const).flatMap((version) =>
        RULE_TABLES[version].map((table, bank) => `| \`${table}\` | ${version} | ${bank} |`),
      ),
      `${TABLE_SIZE} entries each`,
      ...TABLE_KEYS.map(({ name, kind, width }) => `| \`${name}\` | ${kind} | ${width[4]} | ${width[6]} |`),
      ...Object.values(TABLE_ACTIONS).map(({ name, parameters }) => {
        const list = parameters.map((each) => `\`${each.name}\` ${each.width}`).join(', ');
        return `| \`${name}\` | ${list === '' ? 'none' : list} |`;
      }),
      ...Object.values(REGISTERS).map(({ name, width, size }) => `| \`${name}\` | ${width} | ${size} |`),
      ...METRIC_ITEMS.map(
        ({ number, metric, instruction, word, shift, width }) =>
          `| ${number} | \`${metric}\` | ${instruction} | ${word} | ${shift} | ${width} |`,
      ),
      ...Object.entries(CONDITION_WORD).map(([field, { low, width }]) => `| ${low + width - 1} to ${low} | ${field} |`),
      Object.entries(OPERATOR_NUMBERS)
        .map(([operator, number]) => `\`${operator}\` ${number}`)
        .join(', '),
      Object.entries(AGGREGATE_NUMBERS)
        .map(([aggregate, number]) => `${aggregate} ${number}`)
        .join(', '),
      Object.entries(SCOPE_NUMBERS)
        .map(([scope, number]) => `${scope} ${number}`)
        .join(', '),
      ...Object.entries(DETECTOR_NUMBERS).map(([kind, number]) => `${kind} ${number}`),
      `crc % ${FLOW_CELLS}`,
      `id % ${SWITCH_CELLS}`,
      `metric * ${FLOW_CELLS} + cell`,
      `metric * ${SWITCH_CELLS} + cell`,
      `room for ${METRIC_CELLS} metric numbers`,
      `cells from ${EXPRESSIONS} on`,
      `more than ${EXPRESSIONS} complex rules`,
      `More than ${MAX_HOPS} hops`,
      `bit ${USES_HISTORY} if there is a count or a delta`,
      `${NO_METRIC_NUMBER} with noop`,
      `${NO_METRIC_NUMBER} for count`,
      `up to ${MAX_CLAUSES} clauses`,
      `up to ${MAX_CONDITIONS} conditions`,
      `(expression * ${MAX_CLAUSES} + clause) * ${MAX_CONDITIONS} + condition`,
      ...HOST_DETECTORS.map((kind) => `\`${kind}\``),
    ];
    expect(expected.filter((text) => !README.includes(text))).toEqual([]);
  });

  it('are numbers of the model', () => {
    expect(Object.keys(DETECTOR_NUMBERS)).toEqual(DETECTOR_KINDS);
    expect(Object.keys(AGGREGATE_NUMBERS)).toEqual(AGGREGATES);
    expect(Object.keys(OPERATOR_NUMBERS)).toEqual(OPERATORS);
    for (const { metric, number } of METRIC_ITEMS) {
      expect(number).toBe(metricOf(metric).id);
      expect(metricNumber(metric)).toBe(number);
      expect(number).toBeLessThan(METRIC_CELLS);
    }
    expect(METRICS.filter(({ name }) => metricNumber(name) >= 0)).toHaveLength(METRIC_ITEMS.length);
    // As in INT v2.1 section 5.8.
    const places = METRIC_ITEMS.map(({ metric, instruction, word, shift, width }) => [
      metric,
      instruction,
      word,
      shift,
      width,
    ]);
    expect(places).toEqual([
      ['hopLatency', 2, 0, 0, 32],
      ['queueOccupancy', 3, 0, 0, 24],
      ['egressUtilization', 7, 0, 0, 32],
      ['bufferOccupancy', 8, 0, 0, 24],
      ['nodeId', 0, 0, 0, 32],
      ['l1IngressInterface', 1, 0, 16, 16],
      ['l1EgressInterface', 1, 0, 0, 16],
      ['l2IngressInterface', 6, 0, 0, 32],
      ['l2EgressInterface', 6, 1, 0, 32],
      ['queueId', 3, 0, 24, 8],
      ['bufferId', 8, 0, 24, 8],
    ]);
  });

  it('fit what they are written to', () => {
    for (const { width } of Object.values(REGISTERS)) expect(width).toBeLessThanOrEqual(63);
    expect(Number.isInteger(Math.log2(FLOW_CELLS)) && Number.isInteger(Math.log2(SWITCH_CELLS))).toBe(true);
    expect(MAX_CLAUSES * 4).toBeLessThanOrEqual(REGISTERS.logicClauses.width);
    const names = [...Object.values(REGISTERS), ...Object.values(TABLE_ACTIONS)].map(({ name }) => name);
    const tables = [...RULE_TABLES[4], ...RULE_TABLES[6]];
    expect(new Set([...names, ...tables]).size).toBe(names.length + 4);
  });
});
