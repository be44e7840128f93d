import { describe, expect, test } from 'vitest';
import { Fabric, HOPS } from '../../src/trace/fabric.js';
import { theoryOf } from '../../src/trace/theory.js';
import { run, type Total, totalOf } from '../program.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);

function expectClosed({ sent, received, lostInKernel, kernelDrops, accepted, rejected, closes }: Total): void {
  expect(closes).toBe(true);
  expect(received + lostInKernel).toBe(sent);
  expect(accepted + rejected).toBe(received);
  if (kernelDrops !== null) expect(kernelDrops).toBe(lostInKernel);
}

describe('the program', () => {
  test('finds as many paths as theory says, and its accounts close', async () => {
    const flows = 10_000;
    const args = ['--fat-tree', '4', '--flows', String(flows), '--bytes-per-flow', '30', '--copies', '2'];
    const ended = await run([...args, '--seconds', '1.5', '--seed', String(SEED), '--json']);
    expect(ended.err).toBe('');
    expect(ended.code).toBe(0);
    const lines = ended.out.trim().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    const total = totalOf(ended);
    expectClosed(total);
    expect(total).toMatchObject({ flows, asked: flows, slots: 12_500, sent: 2 * flows, rejected: 0 });
    expect(total.load).toBeCloseTo(0.8, 9);
    // Where the kernel loses packets, which ones is no matter of chance; theory says little then.
    if (total.lostInKernel > 0) return;
    const { success, theory, oldest } = total;
    expect(theory.success).toBeCloseTo(0.698, 3);
    expect(Math.abs(success - theory.success)).toBeLessThan(5 * Math.sqrt((0.698 * 0.302) / flows));
    expect(Math.abs(oldest.success - oldest.theory)).toBeLessThan(5 * Math.sqrt(0.25 / oldest.asked));
    expect(total.wrong).toBeLessThan(0.001);
  });

  test('prints a table each second, and stops when it is told to', async () => {
    const row = /\n +\d+\.\d s +[\d,]+ +0\.\d{3} +[\d.]+ % /;
    const ended = await run(['--flows', '100000', '--seconds', '60', '--memory', '2400000'], row);
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).toMatch(/^ +time +flows +load +found +theory/);
    expect(ended.out).toMatch(row);
    expect(ended.out).toMatch(/flow 0, 10\.[\d.:]+ > 10\.[\d.:]+\/(tcp|udp): /);
    expect(ended.out).toMatch(/accounts close\n$/);
  });

  test.each([
    [['--flows', '0'], '--flows must be a whole number from 1'],
    [['--fat-tree', '5'], '--fat-tree must be even'],
    [['--memory', '100', '--bytes-per-flow', '3'], 'not both'],
    [['--memory', '1'], '--memory must be'],
    [['--frob'], 'Usage: node dist/trace.js'],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, out, err } = await run(args);
    expect(err).toContain(message);
    expect(code).toBe(2);
    expect(out).toBe('');
  });
});

describe('the fabric', () => {
  test('has distinct flows between pods, each with five switches from edge to edge', () => {
    const fabric = new Fabric({ ports: 4, flows: 3000, seed: SEED });
    const { bytes } = fabric.keys;
    const keys = new Set(
      Array.from({ length: 3000 }, (_, flow) => Buffer.from(bytes).toString('hex', flow * 13, flow * 13 + 13)),
    );
    expect(keys.size).toBe(3000);
    for (let flow = 0; flow < 3000; flow++) {
      const tiers = fabric.pathOf(flow).map((id) => fabric.topology.switches[id - 1]!.tier);
      expect(tiers).toEqual(['edge', 'aggregation', 'core', 'aggregation', 'edge']);
      expect(fabric.sinks[flow]).toBe(fabric.pathOf(flow)[HOPS - 1]! - 1);
      const { source, destination } = fabric.flow(flow);
      expect(source.split('.')[1]).not.toBe(destination.split('.')[1]);
    }
  });
});

describe('theory', () => {
  test('is that of the paper without losses; with losses, flows are lost as a whole', () => {
    const store = { flows: 1e6, slots: 1.25e6, copies: 2 };
    const whole = theoryOf({ ...store, loss: 0 });
    expect(whole.success).toBeCloseTo(0.698, 3);
    expect(theoryOf({ ...store, loss: 0 }, { from: 1, to: 1 }).success).toBeCloseTo(0.363, 2);
    const half = theoryOf({ ...store, loss: 0.5 });
    expect(half.success).toBeCloseTo(0.5 * theoryOf({ ...store, flows: 5e5, loss: 0 }).success, 6);
    expect(theoryOf({ ...store, loss: 1 }).success).toBe(0);
  });
});
