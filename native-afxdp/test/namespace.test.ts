import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { requires } from '../../.ci/test/requires.js';
import { VethPair } from '../../.ci/test/veth-pair.js';

describe('a pair of interfaces for tests', () => {
  it('has the queues and MTU asked for, and nobody sends a frame', async () => {
    const pair = VethPair.make({ mtu: 2_000, queues: 3 });
    onTestFinished(() => pair.remove());
    for (const end of [pair.left, pair.right]) {
      const [link] = JSON.parse(pair.ip(end, '-j', '-d', 'link', 'show', 'dev', end.interface)) as object[];
      expect(link).toMatchObject({ mtu: 2_000, num_rx_queues: 3, num_tx_queues: 3, operstate: 'UP', address: end.mac });
    }
    await sleep(300);
    for (const end of [pair.left, pair.right]) {
      expect(pair.counters(end)).toEqual({ rx_packets: 0, rx_dropped: 0, tx_packets: 0, tx_dropped: 0 });
      expect(pair.attached(end)).toBe(null);
    }
  });

  it('is gone when it is removed', () => {
    const ip = requires('ip', 'npm run setup:system');
    const pair = VethPair.make({ together: true });
    const list = (): string => spawnSync(ip, ['netns', 'list'], { encoding: 'utf8', timeout: 30_000 }).stdout;
    expect(list()).toContain(pair.right.namespace);
    pair.remove();
    expect(list()).not.toContain(pair.right.namespace);
    pair.remove();
  });
});
