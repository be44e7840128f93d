import { readResults } from '@int/harness';
import { expect, it } from 'vitest';
import { mergeDetectors, type Result } from '../../../src/detect/results.js';

const { results } = readResults<{ readonly results: readonly Result[] }>(
  new URL('../../../results/detect.json', import.meta.url).pathname,
);

it('a detector measured alone replaces its rows, share by share, where they stood', () => {
  const now = results.filter(({ detector }) => detector === 'perFlow').map((row, at) => ({ ...row, checksum: at }));
  expect(now).toHaveLength(3);
  const merged = mergeDetectors(results, now);
  expect(merged.map(({ detector, threshold }) => `${detector} ${threshold}`)).toEqual(
    results.map(({ detector, threshold }) => `${detector} ${threshold}`),
  );
  expect(merged.filter(({ detector }) => detector === 'perFlow')).toEqual(now);
  expect(merged.filter(({ detector }) => detector !== 'perFlow')).toEqual(
    results.filter(({ detector }) => detector !== 'perFlow'),
  );
});
