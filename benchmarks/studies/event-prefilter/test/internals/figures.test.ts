import { expect, it } from 'vitest';
import { short } from '../../src/figures.js';

it('numbers have three digits and a prefix', () => {
  expect([1, 12.34, 999.6, 1000, 4_710_000, 2.5e9, 1e13].map(short)).toEqual([
    '1',
    '12.3',
    '1 k',
    '1 k',
    '4.71 M',
    '2.5 G',
    '10 T',
  ]);
});
