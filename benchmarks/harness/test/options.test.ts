import { Progress, partsOf, readOptions, wholeNumber } from '@int/harness';
import { describe, expect, it } from 'vitest';

describe('options', () => {
  it('are those of all programs and its own', () => {
    const values = readOptions({ only: { type: 'string' }, flows: { type: 'string', default: 'zipf' } }, [
      '--short',
      '--only',
      'a,b',
    ]);
    expect(values).toMatchObject({ short: true, 'no-file': false, only: 'a,b', flows: 'zipf' });
    expect(() => readOptions({}, ['--flows', 'x'])).toThrow(TypeError);
  });

  it('name parts that there are', () => {
    expect(partsOf('b,a', ['a', 'b', 'c'])).toEqual(['b', 'a']);
    expect(partsOf(undefined, ['a'])).toBeNull();
    expect(() => partsOf('a,d', ['a', 'b'])).toThrow('--only takes a, b, not "d"');
    expect(() => partsOf('d', ['a'], 'shapes')).toThrow('--shapes takes a');
  });

  it('are whole numbers within their range', () => {
    expect(wholeNumber('rounds', '12', 1)).toBe(12);
    for (const text of ['0', '1.5', 'two', '', ' ', '9']) {
      expect(() => wholeNumber('rounds', text, 1, 8), text).toThrow('--rounds must be a whole number from 1 to 8');
    }
  });
});

it('progress is said every ten seconds, and at the end', () => {
  let now = 0;
  const said: string[] = [];
  const progress = new Progress(
    4,
    'runs',
    (text) => said.push(text),
    () => now,
  );
  for (const seconds of [4, 12, 15, 80]) {
    now = 1000 * seconds;
    progress.step();
  }
  expect(said).toEqual(['2 of 4 runs, 12 s, about 12 s left', '4 of 4 runs, 1 min 20 s, about 0 s left']);
});
