import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ndjson, run } from './run.js';

const data = (name: string): string => fileURLToPath(new URL(`../../../examples/data/${name}`, import.meta.url));

describe('int overhead', () => {
  test('is the figure of the paper', async () => {
    const args = ['overhead', '--packets-per-second', '2000', '--switches', '3', '--fields', '3'];
    const { code, stdout, stderr } = await run([...args, '--packet-bytes', '126', '--one-in', '2', '--json']);
    expect([code, stderr]).toEqual([0, '']);
    expect(ndjson(stdout)).toEqual([
      {
        type: 'overhead',
        packetsPerSecond: 2000,
        switches: 3,
        oneIn: 2,
        packetBytes: 126,
        headerBytes: 12,
        hopBytes: 12,
        addedBytes: 48,
        bitsPerSecond: 384_000,
        loss: expect.closeTo(0.16),
      },
    ]);
    const text = await run([...args, '--packet-bytes', '126', '--one-in', '2']);
    expect(text.stdout).toContain('16.00 % less for applications');
    const standard = await run([
      'overhead',
      '--packets-per-second',
      '1',
      '--switches',
      '2',
      '--instructions',
      '0xf000',
    ]);
    expect(standard.stdout).toContain('(16 + 2 * 16) bytes');
  });

  test('plans what to watch in a capture, within the budget of every link', async () => {
    const args = ['overhead', data('capture.pcap'), '--topology', data('topology.yaml'), '--budget', '0.00001%'];
    const { code, stdout } = await run([...args, '--json']);
    expect(code).toBe(0);
    const lines = ndjson(stdout) as { type: string; share?: number; instructions?: string | null }[];
    const shares = lines.flatMap(({ share }) => share ?? []);
    expect(shares.length).toBeGreaterThan(0);
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.0000001 * (1 + 1e-6));
    expect(lines.some(({ type, instructions }) => type === 'flow' && instructions !== null)).toBe(true);
    expect(lines.at(-1)).toMatchObject({ type: 'total', budget: expect.closeTo(1e-7, 15), untracked: 0 });
    expect((await run(args)).stdout).toContain(' flows watched, at most <0.01 % of a link');
  });

  test.each([
    [['overhead'], '--packets-per-second'],
    [['overhead', '--packets-per-second', '1', '--switches', '1'], '--instructions'],
    [['overhead', data('capture.pcap'), '--budget', '1%'], '--topology'],
    [['overhead', data('capture.pcap'), '--budget', '1'], 'such as 1%'],
  ])('%j is no command line', async (args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
