import { readFileSync } from 'node:fs';
import { METRIC_NAMES } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { RulesError } from '../../../src/errors.js';
import { PROTOCOLS } from '../../../src/rules/address.js';
import { compileRules } from '../../../src/rules/compile.js';
import type { RulesSpec } from '../../../src/rules/spec.js';
import { type JsonSchema, validates } from '../../rules/json-schema.js';
import { SEED } from '../../seed.js';
import { mutatedSpecs, validSpecs } from './arbitraries.js';

type SchemaObject = Readonly<Record<string, unknown>>;
const schema = JSON.parse(
  readFileSync(new URL('../../../schema/rules.schema.json', import.meta.url), 'utf8'),
) as SchemaObject & { definitions: Record<string, SchemaObject> };
const isValid = (spec: unknown): boolean => validates(schema as JsonSchema, spec);

/** Whether the compiler takes it; fails if it throws anything but a RulesError. */
function compiles(spec: unknown): boolean {
  try {
    compileRules(spec as RulesSpec);
    return true;
  } catch (error) {
    if (RulesError.is(error)) return false;
    throw error;
  }
}

describe('the JSON Schema of rules', () => {
  it('accepts every rule set that is made to be valid, and so does the compiler', () => {
    fc.assert(
      fc.property(validSpecs, (spec) => {
        const plain = JSON.parse(JSON.stringify(spec)) as unknown;
        compileRules(plain as RulesSpec);
        expect(isValid(plain)).toBe(true);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('rejects nothing that the compiler accepts', () => {
    let rejected = 0;
    let accepted = 0;
    fc.assert(
      fc.property(mutatedSpecs, (spec) => {
        const isCompiled = compiles(spec);
        const isSchemaValid = isValid(spec);
        if (isCompiled) expect(isSchemaValid).toBe(true);
        if (isSchemaValid) accepted++;
        else rejected++;
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
    // The mutations are such that the property says something.
    expect(rejected).toBeGreaterThan(300 * LENGTH);
    expect(accepted).toBeGreaterThan(20 * LENGTH);
  });

  it('rejects what an editor is to underline', () => {
    const rule = { name: 'a', priority: 1, match: 'any', detect: { noop: {} } };
    const spec = (change: object): unknown => ({ version: 1, rules: [{ ...rule, ...change }] });
    expect(isValid(spec({}))).toBe(true);
    for (const change of [
      { detect: {} },
      { detect: { noop: {}, pathChange: {} } },
      { detect: { perHop: { metric: 'hopLatncy', threshold: 1 } } },
      { detect: { perHop: { metric: 'hopLatency', threshold: '10 parsecs' } } },
      { detect: { movingAverage: { metric: 'hopLatency', threshold: 1, weight: 3, alpha: 0.5 } } },
      { detect: { change: { metric: 'hopLatency', scope: 'endToEnd', threshold: { default: 1, switches: {} } } } },
      { match: { protocol: 'tpc' } },
      { match: { sourceport: 1 } },
      { sample: { oneIn: 2, every: '1s' } },
      { adapt: { target: 1 } },
      { priority: 'high' },
    ]) {
      expect(isValid(spec(change)), JSON.stringify(change)).toBe(false);
      expect(compiles(spec(change)), JSON.stringify(change)).toBe(false);
    }
  });

  it('names the metrics and protocols that there are', () => {
    expect(schema.definitions.metric?.enum).toEqual(METRIC_NAMES);
    expect(JSON.stringify(schema.definitions.match)).toContain(JSON.stringify(['any', ...Object.keys(PROTOCOLS)]));
  });

  it('describes every key', () => {
    const bare: string[] = [];
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, each] of Object.entries(node)) visit(each, `${path}/${key}`);
      const { properties } = node as SchemaObject;
      // The condition of an `if` describes nothing.
      if (typeof properties !== 'object' || properties === null || /\/(?:if|then)$/.test(path)) return;
      for (const [key, value] of Object.entries(properties as Record<string, SchemaObject>)) {
        const target =
          typeof value.$ref === 'string' ? schema.definitions[value.$ref.slice('#/definitions/'.length)] : value;
        if (typeof target?.description !== 'string') bare.push(`${path}/${key}`);
      }
    };
    visit(schema, '');
    expect(bare).toEqual([]);
  });
});
