/** A controller over switches in this process, as the dashboard shows it and is used to give orders. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, type ObservedFlow, P4RuntimeConnection, Twin } from '@int/control';
import { Dashboard, type DashboardOptions, type JournalRow, type ProposalAnswer } from '@int/dashboard';
import { DashboardClient, RequestError } from '@int/dashboard/client';
import type { Incident } from '@int/knowledge';
import { Host, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { type Entity, P4RuntimeClient, P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { entityText } from '../../src/control/entity-text.js';
import { controlNetwork } from '../../src/control/network.js';
import { policyOf } from '../../src/control/policy.js';
import { readControl } from '../../src/control/read-control.js';
import { ControlView } from '../../src/control/view/control-view.js';
import type { Io } from '../../src/io.js';
import { temporaryFolder } from '../run.js';

const files = temporaryFolder();
/** A machine that is busy compiles the program slowly. */
const MS = 180_000;
const ATTACKER = '198.51.100.7';
const TOPOLOGY = `
switches:
  1: { name: leaf1, ports: { 1: { to: 'leaf2:1', speed: 10M }, 11: { to: host outside }, 60: { to: host collector } } }
  2: { name: leaf2, ports: { 11: { to: host web } } }
hosts:
  outside: { addresses: [198.51.100.0/24] }
  web: { addresses: [10.0.2.1], level: 3 }
  collector: { addresses: [10.9.0.1] }
`;
const CONFIG = `version: 1
sources: [{ udp: { listen: '127.0.0.1:0' } }]
topology: topology.yaml
program: ${new URL('../../../../p4/int.p4', import.meta.url).pathname}
switches: { leaf1: { target: '127.0.0.1:1', deviceId: 1 }, leaf2: { target: '127.0.0.1:1', deviceId: 2 } }
collector: { address: 10.9.0.1 }
autonomy: { block: propose }
limits: { within: 60s, all: 5, block: 3 }
settle: 50ms
intents:
  - { id: shop, kind: protect, destination: 10.0.2.9, level: 7 }
  - { id: no-telnet, kind: block, match: { protocol: tcp, destination: 10.0.2.1, destinationPort: 23 } }
`;

const io = { env: {}, signal: new AbortController().signal } as unknown as Io;
const word = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
/** Two switches with the program of the project, and a host that sends what it should not. */
class World {
  readonly server: P4RuntimeServer;
  received = 0;
  readonly #network = new Network({ seed: 1 });
  readonly #attacker = new Host({ address: word(ATTACKER) });
  readonly #frame = udpFrame(
    { source: word(ATTACKER), destination: word('10.0.2.1'), sourcePort: 1000, destinationPort: 80 },
    new Uint8Array(958),
  );

  constructor(program: ConstructorParameters<typeof P4Switch>[0]) {
    const machines = [1, 2].map(() => new P4Switch(program));
    const [one, two] = machines.map((machine, index) => this.#network.add(`leaf${index + 1}`, machine));
    const web = new Host({ address: word('10.0.2.1') });
    const host = this.#network.add('web', web);
    this.#network.connect(one!, two!, { aPort: 1, bPort: 1, delayNs: 1000 });
    this.#network.connect(one!, this.#network.add('attacker', this.#attacker), { aPort: 11, bPort: 0, delayNs: 1000 });
    const collector = this.#network.add('collector', new Host({ address: word('10.9.0.1') }));
    this.#network.connect(one!, collector, { aPort: 60, bPort: 0, delayNs: 1000 });
    const link = this.#network.connect(two!, host, { aPort: 11, bPort: 0, delayNs: 1000 });
    this.#network.tap(link, 'ab', () => void this.received++, { where: 'in' });
    const devices = machines.map((machine, k) => ({ deviceId: k + 1, target: new P4vmTarget({ host: machine }) }));
    this.server = new P4RuntimeServer({ devices });
  }

  /** Sends packets through the switches as they are now. @returns what arrives of them, as telemetry would tell it */
  traffic(): readonly ObservedFlow[] {
    const before = this.received;
    for (let k = 0; k < 10; k++) this.#attacker.sendFrame(this.#frame);
    this.#network.run(this.#network.nowNs + 1e8);
    const packets = this.received - before;
    if (packets === 0) return [];
    return [
      {
        ...{ source: ATTACKER, destination: '10.0.2.1', protocol: 17, sourcePort: 1000, destinationPort: 80 },
        ...{ packets, bytes: 1000 * packets, path: [1, 2] },
      },
    ];
  }

  /** Entries of leaf1 that tell of the attacker. */
  async entries(): Promise<readonly string[]> {
    const client = new P4RuntimeClient({ target: this.server.transport(), deviceId: 1 });
    const found: string[] = [];
    const anything = { kind: 'table-entry', table: '', match: {} } as unknown as Entity;
    for await (const entity of client.read(anything)) {
      const text = entityText(entity);
      if (text.includes(ATTACKER)) found.push(text);
    }
    await client.close();
    return found;
  }
}

const scan = (from: number): Incident => ({
  ...{ type: 'incident', id: `scan-vertical/host:${ATTACKER}/${from}`, kind: 'scan-vertical', state: 'open', from },
  ...{ to: null, entity: `host:${ATTACKER}`, detector: 'random-walk', formula: 'L >= eta' },
  ...{ operands: { L: 1e6, eta: 99_999 }, baseline: null, windowMs: 10_000, confidence: 1, phase: 'reconnaissance' },
  ...{ otherwise: ['a monitor'], confirm: 'ask who owns it', along: [] },
  suggest: { intent: 'block', match: { source: ATTACKER }, ttlMs: 60_000 },
});

/** The build of the dashboard: threads do not know of the tests' aliases. */
const BUILT = dirname(createRequire(import.meta.url).resolve('@int/dashboard'));

const openDashboard = (options: DashboardOptions): Promise<Dashboard> =>
  Dashboard.open({
    ...{ port: 0, thread: join(BUILT, 'dashboard-thread.js'), page: join(BUILT, 'page') },
    ...{ retention: { seconds: 60, memoryBytes: 32 << 20, flows: 1024 }, ...options },
  });

/** A controller of the two switches with its dashboard. */
async function open() {
  await files.write('topology.yaml', TOPOLOGY);
  const read = await readControl(await files.write('control.yaml', CONFIG), io, () => Date.now());
  const { program, model, ways } = await controlNetwork(read, io);
  const world = new World(program);
  const view = new ControlView(() => read);
  let hasMeasured = false;
  const connections = ways.map((way) => new P4RuntimeConnection({ ...way, target: world.server.transport() }));
  const controller = new Controller({
    policy: policyOf(read.config),
    network: model,
    connections,
    twin: new Twin({ int: program }),
    traffic: {
      measure: (timeMs) => {
        const flows = world.traffic();
        hasMeasured ||= flows.length > 0;
        return { timeMs, seconds: 0.05, flows, dropped: [], ageMs: 0, loss: 0 };
      },
      minute: () => ({ flows: world.traffic(), seconds: 1 }),
    },
    measureMs: 50,
    reconcile: { graceMs: 1, onWritten: (written) => view.written(written) },
    onNote: (note) => view.note(note),
  });
  const incidents: Incident[] = [];
  view.look({
    controller,
    knowledge: {
      open: incidents,
      hosts: () => [
        {
          ...{ host: ATTACKER, score: 1, level: 1 },
          phases: incidents.map(({ id, from, otherwise }) => ({
            ...{ phase: 'reconnaissance', evidence: 1, incident: id, timeMs: from, otherwise },
          })),
        },
      ],
      totals: () => ({ untracked: { pairs: 3 } }) as never,
    },
  });
  const dashboard = await openDashboard({ control: view });
  onTestFinished(async () => {
    await controller.stop();
    await Promise.all(connections.map((each) => each.close()));
    await world.server.close();
    await dashboard.close();
  });
  controller.start(read.intents, 'start');
  await controller.settled();
  await until('traffic', () => hasMeasured);
  const see = (incident: Incident): void => {
    incidents.push(incident);
    view.incident(incident);
    controller.give({ kind: 'incident', incident });
  };
  return { world, controller, view, dashboard, see, client: new DashboardClient({ url: dashboard.url }) };
}

test('what is proposed is approved by HTTP, installed, verified, and undone by HTTP', { timeout: MS }, async () => {
  const { world, dashboard, see, client } = await open();
  const document = (await (await fetch(new URL('api/v1/openapi.json', dashboard.url))).json()) as object;
  const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({ $id: 'document', ...document });
  const valid = <T>(name: string, answer: T): T => {
    expect([ajv.validate(`document#/components/schemas/${name}`, answer), ajv.errors?.slice(0, 3)]).toEqual([
      true,
      undefined,
    ]);
    return answer;
  };
  // A machine that is very busy may not read the first request in time: it is asked once more.
  await until(
    'an answer',
    () =>
      client.status().then(
        ({ has }) => has.control,
        () => false,
      ),
    { everyMs: 100 },
  );
  const state = valid(
    'ControlAnswer',
    await until('settled switches', async () => {
      const answer = await client.control();
      return answer.isSettled ? answer : null;
    }),
  );
  expect(state).toMatchObject({
    ...{ isStopped: false, stopped: null, rehearse: 'required', settleMs: 50 },
    limits: { withinMs: 60_000, all: { most: 5, used: 0 } },
    switches: [
      { switchId: 1, name: 'leaf1', phase: 'settled', error: null },
      { switchId: 2, name: 'leaf2', phase: 'settled', error: null },
    ],
    counts: { untracked: { pairs: 3 } },
  });
  expect(state.autonomy).toContainEqual({ kind: 'block', autonomy: 'propose' });
  expect(state.intents.map(({ text }) => text)).toEqual([
    'protect 10.0.2.9 at level 7',
    'block tcp any -> 10.0.2.1 port 23',
  ]);
  expect(await client.proposals()).toEqual({ rows: [], matched: 0, empty: 'nothing was proposed yet' });
  expect(world.traffic()).toHaveLength(1);

  const from = Date.now();
  see(scan(from));
  const [row] = await until('a proposal that waits', async () => {
    const { rows } = await client.proposals({ state: 'live', kind: 'block' });
    return rows[0]?.waitsFor === 'approval' ? rows : null;
  });
  const { id } = row!;
  expect(row).toMatchObject({
    ...{ state: 'proposed', text: `block ${ATTACKER} -> any`, autonomy: 'propose', orders: ['approve', 'reject'] },
    ...{ incident: scan(from).id, effect: { metric: 'flow-bps', predicted: 0, measured: null } },
  });
  expect(row!.stages.map(({ stage }) => stage)).toEqual(['proposed', 'rehearsed']);
  const planned = valid('ProposalAnswer', await client.proposal(id));
  expect(planned.rehearsal).toMatchObject({
    isSafe: true,
    dropped: 1,
    droppedFlows: [{ source: ATTACKER, share: 1, switchName: 'leaf1' }],
  });
  expect(changesOf(planned, 'planned')).toMatchObject({ leaf1: [{ type: 'insert', before: null, result: 'planned' }] });
  expect(planned.links.map(({ name, measuredBps }) => [name, measuredBps])).toContainEqual(['leaf1:1', null]);
  const { rows: incidents } = valid('IncidentsAnswer', await client.incidents({ state: 'open' }));
  expect(incidents).toMatchObject([
    { id: scan(from).id, name: `outside (${ATTACKER})`, formula: 'L >= eta', operands: { L: 1e6 }, proposals: [id] },
  ]);
  expect(await client.incident(scan(from).id)).toEqual(incidents[0]);
  expect(planned.cause).toEqual(incidents[0]);
  expect(valid('HostsAnswer', await client.hosts()).rows).toMatchObject([
    { host: ATTACKER, name: 'outside', score: 1, open: 1, level: 1, phases: [{ incident: scan(from).id }] },
    { host: '10.0.2.9', name: null, level: 7, levelOf: 'intent', score: 0 },
    { host: '10.0.2.1', name: 'web', level: 3, levelOf: 'topology' },
    { host: '198.51.100.0/24', name: 'outside', level: 1 },
    { host: '10.9.0.1', name: 'collector' },
  ]);
  expect(await world.entries()).toEqual([]);

  const done = valid(
    'OrderAnswer',
    await client.order({ order: 'approve', proposal: id, by: 'ann', reason: 'seen it' }),
  );
  expect(done.proposal).toMatchObject({ id, state: 'approved' });
  const verified = await until('the effect', async () => {
    const answer = await client.proposal(id);
    return answer.state === 'verified' ? answer : null;
  });
  expect(await world.entries()).toHaveLength(1);
  expect(world.traffic()).toEqual([]);
  expect(valid('ProposalAnswer', verified)).toMatchObject({
    ...{
      waitsFor: null,
      orders: ['undo'],
      effect: { predicted: 0, measured: 0 },
      compared: { verdict: 'as-predicted' },
    },
  });
  expect(verified.effect!.before).toBeGreaterThan(0);
  const [written] = changesOf(verified, 'written').leaf1!;
  expect(written).toMatchObject({ type: 'insert', before: null, after: (await world.entries())[0], result: 'done' });
  expect(verified.stages.find(({ stage }) => stage === 'approved')).toMatchObject({
    by: 'dashboard: ann',
    reason: 'seen it',
  });
  expect(verified.links.find(({ name }) => name === 'leaf1:1')).toMatchObject({
    ...{ key: 'link:1:1-2:1', capacityBps: 10e6, predictedBps: 0, measuredBps: 0 },
  });
  expect((await client.control()).limits.all.used).toBe(1);

  expect(await client.order({ order: 'undo', proposal: id })).toMatchObject({ proposal: { id, state: 'withdrawn' } });
  await until('leaf1 without it', async () => (await world.entries()).length === 0);
  expect(world.traffic()).toHaveLength(1);
  const undone = await until('what was removed', async () => {
    const answer = await client.proposal(id);
    return changesOf(answer, 'written').leaf1!.length === 2 ? answer : null;
  });
  expect(changesOf(undone, 'written').leaf1![0]).toMatchObject({ type: 'delete', before: written!.after, after: null });
  expect(undone.stages.at(-1)).toMatchObject({ stage: 'withdrawn', by: 'dashboard', reason: 'undone' });
  expect((await client.proposals({ state: 'ended' })).rows.map((each) => each.id)).toEqual([id]);

  // The journal has all of it, in the order in which it happened, whatever the size of a page.
  const { rows: all, matched } = valid('JournalAnswer', await client.journal({ limit: 500 }));
  const pages: JournalRow[] = [];
  for (let rows: readonly JournalRow[] = all.slice(0, 1); rows.length > 0; ) {
    pages.push(...rows);
    ({ rows } = await client.journal({ limit: 2, before: pages.at(-1)!.id }));
  }
  expect([pages, matched]).toEqual([all, all.length]);
  const ofIt = (await client.journal({ proposal: id })).rows.map(({ what }) => what).reverse();
  expect(ofIt).toEqual(['proposed', 'approved', 'written', 'installed', 'verified', 'withdrawn', 'written']);
});

function changesOf({ diff }: ProposalAnswer, of: string) {
  expect(diff).toMatchObject({ of, problems: [], leftOut: 0 });
  return Object.fromEntries(diff.switches.map(({ name, changes }) => [name, changes]));
}

test('the emergency stop, and what is refused', { timeout: MS }, async () => {
  const { dashboard, see, client, view } = await open();
  await until(
    'an answer',
    () =>
      client.status().then(
        () => true,
        () => false,
      ),
    { everyMs: 100 },
  );
  const refused = async (what: Promise<unknown>, status: number, code: string, message: string): Promise<void> => {
    const error = await what.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(RequestError.is(error)).toBe(true);
    expect(error).toMatchObject({ status, code, message: expect.stringContaining(message) });
  };
  await refused(client.order({ order: 'resume' }), 409, 'ERR_ORDER', 'the loop is not stopped');
  await refused(client.order({ order: 'withdraw' }), 409, 'ERR_ORDER', 'stop the loop first');
  await refused(client.order({ order: 'undo', proposal: 'block-x-1' }), 404, 'ERR_NOT_FOUND', 'no proposal block-x-1');
  await refused(client.proposal('__proto__'), 404, 'ERR_NOT_FOUND', 'no proposal __proto__');
  await refused(client.incident('a/b/c'), 404, 'ERR_NOT_FOUND', 'no incident a/b/c');
  await refused(client.incidents({ before: 'x' }), 404, 'ERR_NOT_FOUND', 'x is not among');

  see(scan(Date.now()));
  const id = await until('a proposal that waits', async () => {
    const [row] = (await client.proposals()).rows;
    return row?.waitsFor === 'approval' ? row.id : null;
  });
  const { revision } = await client.order({ order: 'stop', by: 'bob', reason: 'it is on fire' });
  const stopped = await until('the stop', async () => {
    const answer = await client.control();
    return answer.revision >= revision ? answer : null;
  });
  expect(stopped).toMatchObject({ isStopped: true, stopped: { by: 'dashboard: bob', reason: 'it is on fire' } });
  expect((await client.proposals()).rows).toMatchObject([{ waitsFor: 'resume', orders: ['reject'] }]);
  await refused(client.order({ order: 'approve', proposal: id }), 409, 'ERR_ORDER', 'the loop is stopped');
  await client.order({ order: 'withdraw' });
  await client.order({ order: 'resume', by: 'bob' });
  await client.order({ order: 'reject', proposal: id, by: 'ann' });
  await refused(client.order({ order: 'approve', proposal: id }), 409, 'ERR_ORDER', `no proposal ${id} under way`);
  expect((await client.journal({ limit: 3 })).rows.map(({ what, by }) => `${what} by ${by}`)).toEqual([
    'refused by dashboard: ann',
    'resumed by dashboard: bob',
    'stopped by dashboard: bob',
  ]);

  // Nothing of this is an order.
  const { count } = { count: (await client.journal()).matched };
  const send = async (body: string, headers: Record<string, string> = {}, url = dashboard.url): Promise<string> => {
    const answer = await fetch(new URL('api/v1/control/orders', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`;
  };
  for (const body of [
    ...['null', '[]', '{}', '"stop"', '{"order":"stop","proposal":"x"}', '{"order":"approve"}', '{"order":["stop"]}'],
    ...['{"order":"stop","by":5}', '{"order":"stop","by":""}', '{"order":"stop","by":"a\\nb"}', '{"order":"halt"}'],
    ...[`{"order":"stop","by":"${'x'.repeat(65)}"}`, '{"order":"stop","reason":"\\u001b[2J"}'],
    ...['{"order":"stop","force":true}', `{"order":"undo","proposal":"${'x'.repeat(5000)}"}`],
  ]) {
    expect(await send(body), body).toBe('400 ERR_BODY');
  }
  expect(await send('{"order":"stop"}', { origin: 'http://evil.example' })).toBe('403 ERR_ORIGIN');
  expect(await send('{"order":"stop"}', { 'content-type': 'text/plain' })).toBe('415 ERR_BODY_TYPE');
  const guarded = await openDashboard({ control: view, readOnly: true, token: 'a-token-of-a-test' });
  onTestFinished(() => guarded.close());
  expect(await send('{"order":"stop"}', {}, guarded.url)).toBe('401 ERR_TOKEN');
  const token = { authorization: 'Bearer a-token-of-a-test' };
  expect(await send('{"order":"stop"}', token, guarded.url)).toBe('403 ERR_READ_ONLY');
  expect([(await client.journal()).matched, (await client.control()).isStopped]).toEqual([count, false]);
});
