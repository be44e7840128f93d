/** Receiving from an interface that goes down, or away, and comes back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import type { VethPair } from '../../../.ci/test/veth-pair.js';
import { pairFor } from '../pair.js';
import { Command } from './command.js';
import { Senders, startSource, worker } from './sourcing.js';

const folder = mkdtempSync(join(tmpdir(), 'int-links-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** INT_LONG=1: on its own thread and in one, each time. */
const IS_LONG = process.env.INT_LONG === '1';
/** Outages one after the other. */
const ROUNDS = IS_LONG ? [1, 2, 3] : [1, 2];
const ALL = 320 * ROUNDS.length;

const HERE = ['on its own thread', false] as const;
const THERE = ['in a thread', true] as const;

describe('XdpSource', () => {
  it.each(IS_LONG ? [HERE, THERE] : [THERE])(
    'goes on when the interface is up again, and counts its outages, %s',
    async (_where, threads) => {
      const pair = await pairFor();
      const source = await startSource(pair);
      const senders = await Senders.start(pair);
      const options = { interface: pair.right.interface, threads, worker: await worker() };
      await source.call('open', { source: options, numbers: ALL });
      for (const round of ROUNDS) {
        await senders.send(320, source);
        await source.call('until', 320 * round);
        pair.setRight('down');
        await expect
          .poll(async () => (await source.call('state')).health, { timeout: 10_000 })
          .toMatch(/right0 is down/);
        pair.setRight('up');
        expect(await source.call('recovered', round)).toMatchObject({ health: null, problems: [] });
      }
      const received = await source.call('stop');
      expect(received).toMatchObject({ right: ALL, wrong: 0, duplicates: 0, problems: [] });
      expect(received.totals).toMatchObject({ received: ALL, kernelDropped: 0, outages: ROUNDS.length });
      expect(received.told).toEqual(ROUNDS.flatMap(() => ['ERR_XDP_DOWN', 'recovered']));
      await source.stop();
    },
  );

  it.each(IS_LONG ? [HERE, THERE] : [HERE])(
    'goes on with the interface that has been made again, %s',
    async (_where, threads) => {
      const pair = await pairFor();
      const source = await startSource(pair);
      const options = { interface: pair.right.interface, threads, worker: await worker() };
      await source.call('open', { source: options, numbers: ALL });
      for (const round of ROUNDS) {
        const senders = await Senders.start(pair, 1, 320 * (round - 1));
        await senders.send(320 * round - senders.sent);
        await source.call('until', 320 * round);
        pair.removeLink();
        // Also a name that was never gone for long.
        if (round === 1) pair.makeLink();
        else {
          await expect.poll(async () => (await source.call('state')).health, { timeout: 10_000 }).not.toBeNull();
          pair.makeLink();
        }
        expect(await source.call('recovered', round)).toMatchObject({ health: null, problems: [] });
        expect(pair.attached(pair.right)).not.toBeNull();
      }
      const received = await source.call('stop');
      expect(received).toMatchObject({ right: ALL, wrong: 0, duplicates: 0, problems: [] });
      expect(received.statistics).toMatchObject({ received: ALL, noSocket: 0 });
      expect(received.totals).toMatchObject({ received: ALL, kernelDropped: 0, outages: ROUNDS.length });
      expect(pair.attached(pair.right)).toBeNull();
      await source.stop();
    },
  );

  it('stops while the interface is away, and until then tells the time', async () => {
    const pair = await pairFor();
    const source = await startSource(pair);
    await source.call('open', { source: { interface: pair.right.interface, threads: false }, numbers: 1 });
    pair.removeLink();
    // Told by the socket, or by the next try to open one.
    const away = /has been removed|there is no interface/;
    await expect.poll(async () => (await source.call('state')).health, { timeout: 10_000 }).toMatch(away);
    // Nothing can come, so that sinks behind it need not wait for it.
    const awaySince = Date.now();
    const isPast = async (): Promise<boolean> => {
      const { behindMs } = await source.call('state');
      return behindMs !== null && Date.now() - behindMs > awaySince + 1000;
    };
    await until('a time at which it was away', isPast, { everyMs: 50 });
    expect(await source.call('stop')).toMatchObject({ problems: [], totals: { received: 0, outages: 1 } });
    await source.stop();
  });
});

describe('int collect --afxdp', () => {
  it('goes on when the interface is back, with its pre-filter', async () => {
    const pair = await pairFor();
    const rules = join(folder, 'rules.yaml');
    writeFileSync(rules, 'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n');
    const args = ['collect', '--afxdp', 'right0', '--prefilter', '--rules', rules, '--json'];
    const command = new Command(pair.right, args);
    await command.saying(/receiving from afxdp right0:0/);
    let senders = await Senders.start(pair);
    const send = async (): Promise<void> => {
      await senders.send(64);
      await command.receiving(senders.sent);
    };
    await send();
    pair.setRight('down');
    await command.saying(/int: right0 is down.* Waiting for it\.\n/);
    pair.setRight('up');
    await command.saying(/int: right0 is up again after \d+\.\d s\n/);
    await send();
    pair.removeLink();
    await command.saying(/int: .*right0 has been removed.* Waiting for it\.\n/);
    pair.makeLink();
    await command.saying(/up again[\s\S]*right0 is up again after/);
    senders = await Senders.start(pair, 1, senders.sent);
    await send();
    const { code, lines } = await command.interrupt();
    expect(code).toBe(0);
    const { sent } = senders;
    expect(lines.at(-1)).toMatchObject({ type: 'total', received: sent, decoded: sent, kernelDropped: 0, outages: 2 });
    expect(lines.filter(({ type }) => type === 'event')).toHaveLength(sent);
    expect(pair.attached(pair.right)).toBeNull();
  });

  const failures = [
    ['goes down', 'is down', (pair: VethPair) => pair.setRight('down')],
    ['goes away', 'has been removed', (pair: VethPair) => pair.removeLink()],
  ] as const;
  it.each(IS_LONG ? failures : [failures[0]])(
    '--on-down exit: ends with 3 and the totals when the interface %s',
    async (_how, words, fail) => {
      const pair = await pairFor();
      const command = new Command(pair.right, ['collect', '--afxdp', 'right0', '--on-down', 'exit', '--json']);
      await command.saying(/receiving from/);
      const senders = await Senders.start(pair);
      await senders.send(640);
      const { arrived } = senders;
      await command.receiving(arrived);
      fail(pair);
      const { code, lines, stderr } = await command.end();
      expect(code).toBe(3);
      expect(lines.at(-1)).toMatchObject({ type: 'total', received: arrived, decoded: arrived, outages: 1 });
      expect(stderr).toContain(`int: afxdp://right0:all: cannot receive any more: right0 ${words}`);
    },
  );
});
