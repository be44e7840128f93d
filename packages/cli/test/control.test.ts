import { fileURLToPath } from 'node:url';
import { DashboardClient } from '@int/dashboard/client';
import { type Entity, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { Running, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const PROGRAM = fileURLToPath(new URL('../../../p4/int.p4', import.meta.url));
const TOPOLOGY = `
switches:
  1: { name: leaf1, ports: { 1: { to: 'leaf2:1', speed: 10M }, 11: { to: host a }, 60: { to: host collector } } }
  2: { name: leaf2, ports: { 11: { to: host b } } }
hosts: { a: { addresses: [10.0.1.0/24] }, b: { addresses: [10.0.2.1] }, collector: { addresses: [10.9.0.1] } }
`;

const configOf = (port: number, more = ''): string => `version: 1
sources: [{ udp: { listen: '127.0.0.1:0' } }]
topology: topology.yaml
program: ${PROGRAM}
switches:
  leaf1: { target: '127.0.0.1:${port}', deviceId: 1 }
  leaf2: { target: '127.0.0.1:${port}', deviceId: 2 }
collector: { address: 10.9.0.1 }
${more}`;

beforeAll(() => files.write('topology.yaml', TOPOLOGY));

describe('int control --dry-run', () => {
  const server = new P4RuntimeServer({ devices: [1, 2].map((deviceId) => ({ deviceId, target: new P4vmTarget() })) });
  afterAll(() => server.close());

  it('shows what each switch would get, and writes nothing', async () => {
    const { port } = await server.listen({ port: 0 });
    const intents = `intents:
  - { id: no-telnet, kind: block, match: { protocol: tcp, destination: 10.0.2.1, destinationPort: 23 } }
  - { id: slow, kind: detect, match: { destination: 10.0.2.1 }, metric: hopLatency, target: 5, band: [10, 900] }
  - { id: lost, kind: path, match: { destination: 10.0.2.1 }, via: [leaf2, leaf1] }`;
    const config = await files.write('control.yaml', configOf(port, intents));
    const { code, stdout, stderr } = await run(['control', '--config', config, '--dry-run', '--json']);
    expect(stderr).toBe('');
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, switch: name }) => [type, name])).toEqual([
      ['switch', 'leaf1'],
      ['switch', 'leaf2'],
      ['total', undefined],
    ]);
    const [leaf1] = lines;
    const blocks = leaf1.changes.filter((each: { change: { intents: string[] } }) =>
      each.change.intents.includes('no-telnet'),
    );
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks[0].change).toMatchObject({ type: 'insert', switchId: 1, before: null });
    const [, leaf2] = lines;
    const params = leaf2.changes.flatMap(({ change }: { change: { intents: string[]; after: Entity } }) =>
      change.intents.includes('slow') && 'action' in change.after ? [change.after.action] : [],
    );
    expect(params).toContainEqual({
      action: 'IntSink.fast_detection',
      params: expect.objectContaining({ algorithm: 4, metric: 0, scope: 0, threshold: 900 }),
    });
    expect(params).toContainEqual({ action: 'IntSink.set_regular', params: { one_in: 1 } });
    // A path that goes backwards has no place, and is told by its name.
    expect(lines.at(-1).problems.join()).toContain('lost');
    expect(code).toBe(1);
    expect(server.statistics(1)?.pipelines).toBe(0);
  });

  it('says in words what differs, by the steps in which it would come', async () => {
    const { port } = await server.listen({ port: 0 });
    const config = await files.write('words.yaml', configOf(port));
    const { code, stdout } = await run(['control', '--config', config, '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^leaf1: \d+ entries, \d+ changes$/m);
    expect(stdout).toMatch(/^ {2}\d+ \+ IntIngress\.forward_ipv4: destination_address 10\.0\.2\.1\/32 => /m);
  });

  it('names switches that do not answer', async () => {
    const config = await files.write('absent.yaml', configOf(1));
    const { code, stderr } = await run(['control', '--config', config, '--dry-run']);
    expect(code).toBe(1);
    expect(stderr).toContain('int: leaf1: ');
    expect(stderr).toContain('int: leaf2: ');
  });
});

describe('int control --dashboard', () => {
  const server = new P4RuntimeServer({ devices: [1, 2].map((deviceId) => ({ deviceId, target: new P4vmTarget() })) });
  afterAll(() => server.close());

  it('shows the controller, and takes its orders', { timeout: 180_000 }, async () => {
    const { port } = await server.listen({ port: 0 });
    const config = await files.write('page.yaml', configOf(port, 'autonomy: { block: propose }'));
    const running = new Running(['control', '--config', config, '--dashboard', '0', '--json']);
    const address = (): string | undefined => /dashboard on (http:\S+)/.exec(running.stderr)?.[1];
    // A busy machine compiles the program slowly.
    const patience = { withinMs: 120_000, everyMs: 100, found: () => running.stderr };
    const client = new DashboardClient({ url: await until('the address', address, patience) });
    const settled = await until(
      'settled switches',
      async () => {
        const state = await client.control().catch(() => null);
        return state?.isSettled === true ? state : null;
      },
      patience,
    );
    expect(settled.switches.map(({ name, phase }) => [name, phase])).toEqual([
      ['leaf1', 'settled'],
      ['leaf2', 'settled'],
    ]);
    expect(settled.autonomy).toContainEqual({ kind: 'block', autonomy: 'propose' });
    expect((await client.hosts()).rows.map(({ name }) => name).sort()).toEqual(['a', 'b', 'collector']);
    await client.order({ order: 'stop', by: 'ann', reason: 'a drill' });
    const told = (): string | undefined =>
      running.stdout
        .split('\n')
        .slice(0, -1)
        .find((line) => line.includes('"what":"stopped"'));
    await running.until(() => told() !== undefined);
    expect(JSON.parse(told()!)).toMatchObject({ type: 'note', by: 'dashboard: ann', reason: 'a drill' });
    expect((await client.journal({ what: 'stopped' })).rows).toMatchObject([
      { by: 'dashboard: ann', reason: 'a drill' },
    ]);
    running.child.kill('SIGINT');
    expect((await running.end()).code).toBe(0);
  });

  it.each([
    [['--dashboard-token-file', 'token'], '--dashboard-token-file goes with --dashboard'],
    [['--dashboard', '--dry-run'], '--dashboard does not go with --dry-run'],
    [['--dashboard', '0'], '--dashboard stands in the file that --config names'],
  ])('%j', async (flags, message) => {
    const config = await files.write('twice.yaml', configOf(1, "dashboard: { listen: '127.0.0.1:0' }"));
    const { code, stderr } = await run(['control', '--config', config, ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('control.yaml', () => {
  it.each([
    ['limits: { all: many }', '9:16: give a whole number'],
    ['autonomy: { block: always }', '9:20: give one of observe, propose, act'],
    ['intents: [{ id: x, kind: limit, match: { source: 10.0.0.1 } }]', '9:11: limit needs rate'],
    ['intents: [{ id: x, kind: keep, below: 0.8, rate: 10M }]', '9:50: rate does not go with keep'],
    ['intents: [{ id: x, kind: block, match: { source: 10.0.0 } }]', "9:50: '10.0.0' is no address or prefix"],
    ['intents: [{ id: x, kind: block, match: {} }]', '9:40: block of everything is not meant'],
    ['intents: [{ id: x, kind: avoid, link: leaf1:7 }]', "9:39: the topology has no port 7 of switch 'leaf1'"],
    ['intents: [{ id: x, kind: path, match: {source: 10.0.0.1}, via: [leaf9] }]', "the topology has no switch 'leaf9'"],
    ['intents: [{ id: x, kind: detect, match: {}, metric: hopLatency }]', '9:11: detect needs target'],
    ['intents: [{ id: x, kind: detect, match: {}, metric: luck, target: 1 }]', '9:53: give one of hopLatency, '],
    [
      'intents: [{ id: x, kind: detect, match: {}, metric: hopLatency, target: 1, band: [2, 1] }]',
      '9:82: the minimum is above the maximum',
    ],
    [
      'intents: [{ id: x, kind: detect, match: {}, metric: hopLatency, target: 1, switches: [leaf9] }]',
      "the topology has no switch 'leaf9'",
    ],
    ['autonomy: { detect: propose }', '9:21: give one of observe, act'],
    ['inside: [ten]', "9:10: 'ten' is no address or prefix"],
    ['device: { units: { hopLatency: parsecs } }', '9:32: '],
    ['colour: red', "9:1: no such key, 'colour'"],
  ])('%s', async (more, message) => {
    const config = await files.write('wrong.yaml', configOf(1, more));
    const { code, stderr } = await run(['control', '--config', config, '--dry-run']);
    expect(stderr).toContain(`${config}:`);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('is about all switches of the topology, and no others', async () => {
    const text = configOf(1).replace('  leaf2:', '  leaf9:');
    const config = await files.write('others.yaml', text);
    const { code, stderr } = await run(['control', '--config', config]);
    expect(stderr).toContain("7:3: the topology has no switch 'leaf9'");
    expect(stderr).toContain("5:1: switch 'leaf2' of the topology is missing");
    expect(code).toBe(2);
  });

  it('names a program that has errors, and files that are not there', async () => {
    await files.write('bad.p4', 'header h_t { bit<8> x }');
    const config = await files.write('program.yaml', configOf(1).replace(PROGRAM, 'bad.p4'));
    expect(await run(['control', '--config', config])).toMatchObject({ code: 1 });
    expect(await run(['control', '--config', files.path('none.yaml')])).toMatchObject({ code: 3 });
    expect(await run(['control'])).toMatchObject({ code: 2 });
  });
});
