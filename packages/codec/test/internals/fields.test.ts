/** The one table of metadata items, and what follows from it. */
import { describe, expect, it } from 'vitest';
import { readmeWithFields } from '../../../../.ci/scripts/fields.mjs';
import { FIELDS, HOP_COLUMNS, SPLITS } from '../../src/fields.js';
import { METRICS } from '../../src/metric.js';
import { LAYOUT, OP, planFor } from '../../src/plan.js';

describe('the table of fields', () => {
  it('has no name, column or number twice, and room for its columns in a set of 32 bits', () => {
    const columns = FIELDS.flatMap(({ column, bits }) => (bits === 64 ? [column, column + 1] : [column]));
    expect(new Set(columns).size).toBe(HOP_COLUMNS.length - 1);
    expect(Math.max(...columns)).toBe(HOP_COLUMNS.length - 2);
    expect(HOP_COLUMNS.length).toBeLessThanOrEqual(32);
    expect(new Set(FIELDS.map(({ name }) => name)).size).toBe(FIELDS.length);
    expect(new Set(FIELDS.map(({ protobuf }) => protobuf)).size).toBe(FIELDS.length);
    expect(METRICS.map(({ id }) => id)).toEqual(FIELDS.flatMap(({ metric }) => metric ?? []).sort((a, b) => a - b));
  });

  it('keeps the columns where other programs look for them', () => {
    const columns = FIELDS.map(({ name, column }) => `${name} ${column}`);
    expect(columns.join(', ')).toBe(
      'nodeId 0, l1IngressInterface 1, l1EgressInterface 2, hopLatency 3, queueId 4, queueOccupancy 5, ' +
        'ingressTimestamp 6, egressTimestamp 8, l2IngressInterface 10, l2EgressInterface 11, egressUtilization 12, ' +
        'bufferId 13, bufferOccupancy 14, checksumComplement 15, congestionQueueId 16, queueCongestion 17, ' +
        'reserved8 18, reserved9 19, reserved10 20, reserved11 21, reserved12 22, reserved13 23, reserved14 24, reserved15 25',
    );
    expect(HOP_COLUMNS[26]).toBe('domainOffset');
  });

  it('says of each instruction of INT v2.1 which columns its words go to', () => {
    const plan = planFor(LAYOUT.V2, 0xffff);
    const words = [...plan.columns].map((column, word) => {
      const name = HOP_COLUMNS[column]!;
      return plan.ops[word] === OP.SPLIT ? `${HOP_COLUMNS[column - 1]}+${name}` : name;
    });
    expect(words).toEqual([
      'nodeId',
      'l1IngressInterface+l1EgressInterface',
      'hopLatency',
      'queueId+queueOccupancy',
      'ingressTimestampHigh',
      'ingressTimestampLow',
      'egressTimestampHigh',
      'egressTimestampLow',
      'l2IngressInterface',
      'l2EgressInterface',
      'egressUtilization',
      'bufferId+bufferOccupancy',
      'reserved9',
      'reserved10',
      'reserved11',
      'reserved12',
      'reserved13',
      'reserved14',
      'checksumComplement',
    ]);
    expect(SPLITS.map(({ column, bits }) => [HOP_COLUMNS[column], bits])).toEqual([
      ['l1IngressInterface', 16],
      ['queueId', 24],
      ['bufferId', 24],
      ['congestionQueueId', 24],
    ]);
  });

  it('is the one in the README', async () => {
    const { before, after } = await readmeWithFields();
    expect(before).toContain('| `hopLatency` | 32 |');
    expect(before, 'npm run fields writes the table').toBe(after);
  });
});
