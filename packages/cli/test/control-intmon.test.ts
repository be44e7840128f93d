/** int control with switches that run intmon.p4: intents become watch rules, and what these collect comes back to the controller. */
import { fileURLToPath } from 'node:url';
import { FrameDecoder, type Hop } from '@int/codec';
import { DashboardClient } from '@int/dashboard/client';
import { udpFrame } from '@int/netsim';
import { P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const programOf = (name: string): string => fileURLToPath(new URL(`../../../p4/${name}.p4`, import.meta.url));

const TOPOLOGY = `
switches:
  1: { name: leaf1, ports: { 1: { to: 'spine:1', speed: 1G }, 2: { to: host a } } }
  2: { name: spine, ports: { 2: { to: 'leaf2:1', speed: 1G } } }
  3: { name: leaf2, ports: { 2: { to: host b } } }
hosts: { a: { addresses: [10.0.1.1] }, b: { addresses: [10.0.2.1] } }
`;
const LINKS: Readonly<Record<string, readonly [device: number, port: number]>> = {
  '1:1': [2, 1],
  '2:1': [1, 1],
  '2:2': [3, 1],
  '3:1': [2, 2],
};
const ONE_IN = 4;
const FIELDS = ['switchId', 'hopLatency', 'egressPort'];
const INTENTS = `intents:
  - { id: game, kind: watch, match: { source: 10.0.1.1, protocol: udp, destinationPort: 6000-6002 }, fields: [${FIELDS}], oneIn: ${ONE_IN} }`;

const configOf = (port: number, more: string): string => `version: 1
sources: []
topology: topology.yaml
program: ${programOf('intmon')}
switches:
  leaf1: { target: '127.0.0.1:${port}', deviceId: 1 }
  spine: { target: '127.0.0.1:${port}', deviceId: 2 }
  leaf2: { target: '127.0.0.1:${port}', deviceId: 3 }
${more}
`;

const packet = (destinationPort: number): Uint8Array =>
  udpFrame({ source: 0x0a00_0101, destination: 0x0a00_0201, sourcePort: 5000, destinationPort }, new Uint8Array(84));

/** Three switches behind one server, whose packets go from one to the other. */
function fabric() {
  const on: { readonly link: string; readonly frame: Uint8Array }[] = [];
  const targets = [1, 2, 3].map(
    (id) =>
      new P4vmTarget({
        cpuPort: 510,
        onTransmit: (port, bytes, offset, length) => {
          const frame = bytes.slice(offset, offset + length);
          on.push({ link: `${id}:${port}`, frame });
          const to = LINKS[`${id}:${port}`];
          if (to !== undefined) targets[to[0] - 1]!.machine!.receive(to[1], frame);
        },
      }),
  );
  const server = new P4RuntimeServer({ devices: targets.map((target, index) => ({ deviceId: index + 1, target })) });
  onTestFinished(() => server.close());
  return {
    server,
    targets,
    frames: (link: string) => on.filter((each) => each.link === link).map(({ frame }) => frame),
  };
}

describe('int control, with switches that run intmon.p4', () => {
  it('installs a watch rule, whose telemetry has the fields that were named, of one packet of n, and comes to it', {
    timeout: 180_000,
  }, async () => {
    const { server, targets, frames } = fabric();
    const { port } = await server.listen({ port: 0 });
    await files.write('topology.yaml', TOPOLOGY);
    const config = await files.write('control.yaml', configOf(port, INTENTS));
    const running = new Running(['control', '--config', config, '--dashboard', '0', '--json']);
    const patience = { withinMs: 120_000, everyMs: 50, found: () => running.stderr };
    const url = await until('the address', () => /dashboard on (http:\S+)/.exec(running.stderr)?.[1], patience);
    const client = new DashboardClient({ url });
    await until('settled switches', async () => (await client.control().catch(() => null))?.isSettled, patience);

    const rounds = 3;
    for (let i = 0; i < rounds * ONE_IN; i++) {
      for (const to of [6001, 7000]) targets[0]!.machine!.receive(2, packet(to));
    }
    // Hosts get the packets as they were.
    const sent = Array.from({ length: rounds * ONE_IN }, () => [packet(6001), packet(7000)]).flat();
    expect(frames('3:2')).toEqual(sent);
    // Behind each switch one packet of n of the watched flow has telemetry, the others have none.
    const decoder = new FrameDecoder({ profile: 'intmon' });
    const names: Readonly<Record<string, keyof Hop>> = {
      switchId: 'nodeId',
      hopLatency: 'hopLatency',
      egressPort: 'l1EgressInterface',
    };
    for (const [link, ids] of [
      ['1:1', [1]],
      ['2:2', [1, 2]],
    ] as const) {
      const read = frames(link).map((frame) => decoder.decode(frame)[0]?.hops ?? []);
      expect(read.map((hops) => hops.length)).toEqual(
        sent.map((_, index) => (index % (2 * ONE_IN) === 0 ? ids.length : 0)),
      );
      for (const hops of read.filter(({ length }) => length > 0)) {
        expect(hops.map(({ nodeId }) => nodeId)).toEqual(ids);
        for (const hop of hops) expect(Object.keys(hop).sort()).toEqual(FIELDS.map((name) => names[name]!).sort());
      }
      // The overhead that the formula says.
      const bytes = frames(link).reduce((sum, { length }) => sum + length, 0);
      expect(bytes - sent.length * sent[0]!.length).toBe(rounds * (12 + 4 * ids.length * FIELDS.length));
    }
    expect(server.statistics(3)?.packetIns).toBe(rounds);
    const rows = await until(
      'reports',
      async () => {
        const { rows } = await client.reports({ from: Date.now() - 600_000, to: Date.now() + 60_000 });
        return rows.length === rounds ? rows : null;
      },
      patience,
    );
    for (const { flow, hops } of rows) {
      expect([flow?.destinationPort, hops.map(({ nodeId }) => nodeId)]).toEqual([6001, [1, 2, 3]]);
    }
    running.child.kill('SIGINT');
    const { code, stdout } = await running.end();
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({ type: 'total', reports: rounds });
  });
});

describe('control.yaml with programs of switches', () => {
  const wrong = async (text: string) => {
    await files.write('topology.yaml', TOPOLOGY);
    const config = await files.write('wrong.yaml', text);
    const { code, stderr } = await run(['control', '--config', config, '--dry-run']);
    return { code, stderr };
  };

  it('names where one cannot be used', async () => {
    await files.write('intmon.p4', `#include "${programOf('intmon')}"\n`);
    const own = (program: string): string =>
      configOf(1, '').replace('deviceId: 2', `deviceId: 2, program: '${program}'`);
    expect(await wrong(own(programOf('gpint')))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/wrong\.yaml:7:\d+: .*gpint\.p4 has the tables of neither int\.p4 nor intmon\.p4/),
    });
    expect(await wrong(own(programOf('int')))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name at least one: switches with int.p4 send their reports over the network'),
    });
    expect(await wrong(configOf(1, 'device: { profile: intcollector }'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is read by the profile intmon, not by intcollector'),
    });
    const twice = 'intents: [{ id: x, kind: watch, match: {}, fields: [switchId], instructions: 0x8000 }]';
    expect(await wrong(configOf(1, twice))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('give fields or instructions, not both'),
    });
  });

  it('shows by --dry-run what a program refuses, in its words', async () => {
    const { server } = fabric();
    const { port } = await server.listen({ port: 0 });
    await files.write('topology.yaml', TOPOLOGY);
    const block = 'intents: [{ id: no-telnet, kind: block, match: { protocol: tcp, source: 10.0.1.1 } }]';
    const config = await files.write('refused.yaml', configOf(port, block));
    const { code, stdout } = await run(['control', '--config', config, '--dry-run']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}\d+ \+ IntmonIngress\.forward_ipv4: destination 10\.0\.2\.1\/32 => /m);
    expect(stdout).toContain('problem: no-telnet: switch 1 runs intmon.p4, which neither drops nor bounds flows');
  });
});
