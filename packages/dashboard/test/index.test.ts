import { BUCKET_MS, SERIES_METRICS } from '@int/dashboard';
import { expect, it } from 'vitest';

it('divides a second into whole buckets, and names each metric once', () => {
  expect(1000 % BUCKET_MS).toBe(0);
  expect(new Set(SERIES_METRICS).size).toBe(SERIES_METRICS.length);
});
