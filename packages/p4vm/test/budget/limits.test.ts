import { createSwitch, DEFAULT_LIMITS, type LimitName, type Limits, P4Error } from '@int/p4vm';
import { LIMIT_NAMES, limitLabel } from '@int/p4vm/internals';
import { describe, expect, it } from 'vitest';
import { type Parts, times, v1model } from '../hostile/hostile-case.js';

/** The first error of a program, or `runs`; and what its switch drops of one packet, if it is dropped by a limit. */
function outcome(parts: Parts, limits: Partial<Limits>): string {
  try {
    const target = createSwitch({ name: 'test.p4', text: v1model(parts) }, { limits });
    target.process(0, new Uint8Array(64));
    const { steps, size, memory } = target.statistics.dropped;
    return steps + size + memory === 0 ? 'runs' : `drops ${steps} ${size} ${memory}`;
  } catch (error) {
    if (!(error instanceof P4Error)) throw error;
    return error.diagnostics[0]!.code;
  }
}

const steps = times(50, (i) => `m.seen = m.seen + ${i};`);
const loop = 'for (bit<32> i in 32w1 .. 32w1000) { m.seen = m.seen + i; }';

/** A program for each limit, a value that it exceeds, one that is enough, and how it ends if it exceeds it. */
const CASES: readonly (readonly [LimitName, Parts, number, number, string])[] = [
  ['files', {}, 2, 10, 'limit-files'],
  ['characters', { top: `// ${'x'.repeat(100_000)}\n` }, 100_000, 200_000, 'limit-characters'],
  ['tokens', { apply: steps }, 200, 20_000, 'limit-tokens'],
  ['work', { apply: steps }, 100, 20_000, 'limit-work'],
  ['instances', { locals: times(9, (i) => `counter(1, CounterType.packets) c${i};`) }, 9, 20, 'limit-instances'],
  ['codeCharacters', { apply: steps }, 1_000, 50_000, 'limit-code-characters'],
  ['stateBytes', { locals: 'register<bit<32>>(1000000) r;' }, 1_000_000, 10_000_000, 'limit-state-bytes'],
  ['steps', { apply: steps }, 40, 1_000, 'limit-steps'],
  ['steps', { apply: loop }, 1_000, 100_000, 'drops 1 0 0'],
  ['packetBytes', {}, 60, 64, 'drops 0 1 0'],
];

describe('limits of a program', () => {
  it.each(CASES)('end what exceeds them, with a name to raise: %s', (name, parts, small, enough, ended) => {
    expect(outcome(parts, { [name]: small })).toBe(ended);
    expect(outcome(parts, { [name]: enough })).toBe('runs');
    expect(outcome(parts, {})).toBe('runs');
  });

  it('are each tried above', () => {
    expect(new Set(CASES.map(([name]) => name))).toEqual(new Set(LIMIT_NAMES));
  });

  it('are named in the diagnostic as the command line writes them', () => {
    const program = { name: 'test.p4', text: v1model({ locals: 'register<bit<32>>(1000000) r;' }) };
    expect(() => createSwitch(program, { limits: { stateBytes: 1000 } })).toThrow(
      /more than 1,000 bytes .* \(limit state-bytes\) \[limit-state-bytes\]/,
    );
    expect(LIMIT_NAMES.map(limitLabel)).toContain('code-characters');
  });

  it('are whole numbers from 1', () => {
    for (const steps of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => outcome({}, { steps })).toThrow(RangeError);
    }
    expect(Object.values(DEFAULT_LIMITS).every((each) => Number.isSafeInteger(each) && each >= 1)).toBe(true);
  });
});
