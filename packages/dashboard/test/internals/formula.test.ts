import { type Incident, KnowledgePlane } from '@int/knowledge';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { comparisonsOf, partsOf } from '../../src/page/incidents/formula.js';

const operandsIn = (formula: string, operands: Record<string, number | string>): string[] =>
  partsOf(formula, operands).flatMap(({ text, isOperand }) => (isOperand ? [text] : []));

describe('the formula of an incident', () => {
  it('is whole in its pieces, whatever it says', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.dictionary(fc.string(), fc.oneof(fc.double(), fc.string())),
        (formula, operands) => {
          const parts = partsOf(formula, operands);
          expect(parts.map(({ text }) => text).join('')).toBe(formula);
          for (const { measured, threshold } of comparisonsOf(formula, operands)) {
            expect(Number.isFinite(measured) && Number.isFinite(threshold)).toBe(true);
          }
        },
      ),
      { seed: 7, numRuns: 500 },
    );
  });

  it('a name in a sentence is no operand', () => {
    const operands = { length: 2, from: 'a', through: 'b', to: 'c', port: 22 };
    const formula =
      'length >= 2, each edge new in 14 days, to a port of administration, within an hour of the one before';
    expect(operandsIn(formula, operands)).toEqual(['length']);
    expect(comparisonsOf(formula, operands)).toEqual([
      { left: 'length', sign: '>=', right: '2', measured: 2, threshold: 2 },
    ]);
  });

  it('conditions are calculated, also with names that have blanks, functions and products', () => {
    const walk = 'ln L = failures * ln((1 - theta1) / (1 - theta0)) + successes * ln(theta1 / theta0) >= ln(eta1)';
    const operands = { failures: 9, successes: 0, theta0: 0.8, theta1: 0.2, 'ln L': 12.48, 'ln(eta1)': 11.51 };
    expect(operandsIn(walk, operands)).toContain('ln(eta1)');
    expect(comparisonsOf(walk, operands)).toEqual([
      { left: 'ln L', sign: '>=', right: 'ln(eta1)', measured: 12.48, threshold: 11.51 },
    ]);
    const flood = '(S > h or packets > 3 * usual) and (signature = ddos or sources / usualSources > 4) and damage';
    const found = comparisonsOf(flood, {
      ...{ S: 5, h: 4, packets: 900, usual: 100, sources: 50, usualSources: 10 },
      ...{ signature: 'ddos', damage: 'not measured' },
    });
    expect(found.map(({ left, right }) => `${left} and ${right}`)).toEqual([
      'S and h',
      'packets and 3 * usual',
      'sources / usualSources and 4',
    ]);
    expect(found.map(({ measured, threshold }) => measured / threshold)).toEqual([1.25, 3, 1.25]);
  });

  it('what cannot be calculated is left out', () => {
    expect(comparisonsOf('value > usual by far', { value: 3, usual: null })).toEqual([]);
    expect(comparisonsOf('a > 1 / 0 and b >', { a: 1, b: 2 })).toEqual([]);
    expect(comparisonsOf('toString(a) > constructor', { a: 1 })).toEqual([]);
  });

  it('of every incident that a scan opens, what was measured is beyond the threshold', () => {
    const incidents: Incident[] = [];
    const plane = new KnowledgePlane({ inside: ['10.0.0.0/8'] }, { incident: (each) => incidents.push(each) });
    for (let port = 1; port <= 12; port++) {
      const ends = { source: '198.51.100.7', destination: '10.1.0.9', sourcePort: 40_000, destinationPort: port };
      plane.packet({ ...ends, protocol: 6, timeMs: 1000 * port, tcpFlags: 2, lengthBytes: 60 });
    }
    plane.finish();
    expect(incidents.length).toBeGreaterThan(0);
    for (const { formula, operands } of incidents) {
      const [first] = comparisonsOf(formula, operands);
      expect(first!.measured).toBeGreaterThanOrEqual(first!.threshold);
    }
  });
});
