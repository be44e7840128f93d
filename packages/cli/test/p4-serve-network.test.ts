/** Three switches with int.p4 as processes, on virtual cables, between hosts with the kernel's own TCP and UDP. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeAddon } from '../../../.ci/test/native.js';
import { find, limit, requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { WiredNetwork } from '../../../.ci/test/wired-network.js';
import { BIN, temporaryFolder } from './run.js';
import { Started } from './started.js';

const files = temporaryFolder();
const PROGRAM = fileURLToPath(new URL('../../../p4/int.p4', import.meta.url));
const HOSTS = fileURLToPath(new URL('p4-serve-hosts.mjs', import.meta.url));
/** Reports and hosts have 1400 bytes, so that 100 bytes of telemetry fit. */
const HOST_MTU = 1400;

const forward = (prefix: string, port: number): string =>
  `table_add IntIngress.forward_ipv4 IntIngress.forward ${prefix} => ${port}`;
const common = (id: number): string[] => [
  `table_set_default IntEgress.node IntEgress.set_node ${id}`,
  forward('10.0.1.0/24', 1),
  forward('10.0.2.0/24', 2),
  'table_add IntEgress.port IntEgress.set_port 1 => 0 1500 0xffffff 0 0xffffffff',
];
/** Node id, interfaces, latency, queue. */
const watch = (protocol: number, npt: number): string =>
  `table_add IntIngress.watch_ipv4 IntIngress.start_md 1&&&0x1ff 10.0.1.0&&&255.255.255.0 0.0.0.0&&&0.0.0.0 ${protocol}&&&0xff 0->65535 0->65535 0&&&0 0&&&0 => ${npt} 0xf000 8 0 0 1`;
const COMMANDS: readonly (readonly string[])[] = [
  [
    ...common(1),
    'table_add IntEgress.port IntEgress.set_port 2 => 0 1500 0xffffff 0 0xffffffff',
    watch(17, 1),
    watch(6, 0),
  ],
  [...common(2), 'table_add IntEgress.port IntEgress.set_port 2 => 0 1500 0xffffff 0 0xffffffff'],
  [
    ...common(3),
    'table_add IntEgress.port IntEgress.set_port 2 => 1 1500 64 0 0xffffffff',
    'mirroring_add 99 7',
    'table_set_default IntEgress.reports IntEgress.set_session 99',
    'table_add IntReport.collector IntReport.send 7 => 0 02:00:00:00:00:03 02:00:00:00:00:99 10.0.9.3 10.0.9.9 50000 32766 1 200',
  ],
];

function wired(): WiredNetwork {
  const network = WiredNetwork.make(['h1', 'h2', 'c', 's']);
  const host = (at: string, number: number) => ({
    at,
    interface: 'eth0',
    mac: `02:00:00:00:01:0${number}`,
    address: `10.0.${number}.1/16`,
    mtu: HOST_MTU,
  });
  network.cable(host('h1', 1), { at: 's', interface: 's1a' });
  network.cable({ at: 's', interface: 's1b' }, { at: 's', interface: 's2a' });
  network.cable({ at: 's', interface: 's2b' }, { at: 's', interface: 's3a' });
  network.cable({ at: 's', interface: 's3b' }, host('h2', 2));
  network.cable(
    { at: 's', interface: 's3c' },
    { at: 'c', interface: 'eth0', mac: '02:00:00:00:00:99', address: '10.0.9.9/24' },
  );
  for (const [at, other] of [
    ['h1', 2],
    ['h2', 1],
  ] as const) {
    network.run(at, 'ip', 'neighbour', 'add', `10.0.${other}.1`, 'lladdr', `02:00:00:00:01:0${other}`, 'dev', 'eth0');
  }
  return network;
}

async function startSwitches(network: WiredNetwork, kind: 'xdp' | 'packet'): Promise<Started[]> {
  const env = { INT_AFXDP_ADDON: join(makeAddon('addon'), 'prebuilds', `linux-${process.arch}`, 'afxdp.node') };
  const switches: Started[] = [];
  for (const [index, commands] of COMMANDS.entries()) {
    const name = `s${index + 1}`;
    const path = await files.write(`${name}.txt`, `${commands.join('\n')}\n`);
    const ports = ['--port', `1=${kind}:${name}a`, '--port', `2=${kind}:${name}b`];
    if (index === 2) ports.push('--port', `7=${kind}:s3c`);
    const args = ['p4', 'serve', PROGRAM, '--commands', path, ...ports, '--json'];
    switches.push(new Started(network.at('s', process.execPath, BIN, ...args), env));
  }
  for (const each of switches) {
    try {
      await each.says('forwarding');
    } catch (error) {
      if (/ERR_XDP_(PERMISSION|KERNEL)|CAP_|too old/.test(each.stderr)) limit(`AF_XDP is refused here: ${each.stderr}`);
      throw error;
    }
  }
  return switches;
}

/** INT_LONG=1: on packet ports, too; p4-fabric-network.test has such in any case. */
const KINDS: readonly ('xdp' | 'packet')[] = process.env.INT_LONG === '1' ? ['xdp', 'packet'] : ['xdp'];

describe.each(KINDS)('three switches on %s ports', (kind) => {
  test('carry the TCP and UDP of hosts, and tell the collector of it', { timeout: 120_000 }, async () => {
    requires('cc', 'npm run setup:system');
    const network = wired();
    const collector = new Started(
      network.at('c', process.execPath, BIN, 'collect', '--listen', 'udp://10.0.9.9:32766', '--json'),
    );
    const switches = await startSwitches(network, kind);
    await collector.says('10.0.9.9:32766');

    if (find('ping') !== undefined) {
      expect(network.run('h1', 'ping', '-c', '5', '-i', '0.05', '-w', '25', '10.0.2.1')).toContain('5 received');
    }
    const node = (at: string, ...args: string[]): Started =>
      new Started(network.at(at, process.execPath, HOSTS, ...args));

    // UDP: each datagram comes back.
    const echo = node('h2', 'echo', '10.0.2.1', '7000');
    await echo.says('ready');
    const asking = node('h1', 'ask', '10.0.2.1', '7000', '300');
    expect(await asking.ended()).toBe(0);
    expect(asking.stdout).toBe('300 of 300\n');

    // A file over HTTP: the sender of the bytes is the INT source's host.
    const path = await files.write('file.bin', randomBytes(1_000_000));
    const server = node('h1', 'serve', '10.0.1.1', '8080', path);
    await server.says('ready');
    const client = node('h2', 'fetch', '10.0.1.1', '8080');
    expect(await client.ended()).toBe(0);
    expect(client.stdout).toBe(server.stdout.replace('ready\n', ''));

    if (find('iperf3') !== undefined) {
      const iperf = new Started(network.at('h2', 'iperf3', '-s', '-1', '--forceflush'));
      await iperf.says('listening');
      const load = new Started(network.at('h1', 'iperf3', '-c', '10.0.2.1', '-n', '500K', '-b', '20M', '-J'));
      expect(await load.ended(), load.output).toBe(0);
    }

    const totals: Record<string, unknown>[] = [];
    for (const each of switches) {
      expect(await each.interrupt(), each.output).toBe(0);
      totals.push(each.lines('total')[0]!);
    }
    const sink = totals[2] as unknown as { egressClones: number; ports: Record<number, { sent: number }> };
    // UDP one way, TCP both: the file and the acknowledgements of the connection, the latter without INT.
    expect(sink.egressClones).toBeGreaterThan(300 + 1_000_000 / HOST_MTU);
    expect(sink.ports[7]!.sent).toBe(sink.egressClones);
    for (const total of totals) {
      expect(total).toMatchObject({
        waiting: 0,
        dropped: { ingress: 0, egress: 0, queueFull: 0, noPort: 0, fault: 0, memory: 0, steps: 0 },
      });
      for (const port of Object.values(total.ports as Record<string, { dropped: object }>)) {
        expect(port.dropped).toEqual({
          rxFull: 0,
          rxTooLong: 0,
          rxDamaged: 0,
          txFull: 0,
          txTooLong: 0,
          txNoPayload: 0,
          down: 0,
          failed: 0,
        });
      }
    }
    await until('all reports', () => {
      const [last] = collector.lines('stats').slice(-1) as unknown as { reports: number }[];
      return (last?.reports ?? 0) >= sink.egressClones;
    });
    expect(await collector.interrupt()).toBe(0);
    const stats = collector.lines('stats').at(-1) as unknown as {
      dropped: Record<string, number>;
      switches: { nodeId: number; reports: number }[];
    };
    expect(Object.values(stats.dropped).every((count) => count === 0)).toBe(true);
    expect(stats.switches.map(({ nodeId }) => nodeId).sort()).toEqual([1, 2, 3]);
  });
});
