/** A controller over switches in this process, as the dashboard shows it and is used to give orders. */
import type { JournalRow, ProposalAnswer } from '@int/dashboard';
import { RequestError } from '@int/dashboard/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { ControlView } from '../../src/control/view/control-view.js';
import { temporaryFolder } from '../run.js';
import { ATTACKER, MS, open, openDashboard, scan } from './control-world.js';

const files = temporaryFolder();

test('what is proposed is approved by HTTP, installed, verified, and undone by HTTP', { timeout: MS }, async () => {
  const { world, dashboard, see, client } = await open(files);
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
  expect(await client.proposals()).toEqual({ rows: [], matched: 0, newer: 0, empty: 'nothing was proposed yet' });
  expect(world.traffic()).toHaveLength(1);

  const from = Date.now();
  see(scan(from));
  const [row] = await until('a proposal that waits', async () => {
    const { rows } = await client.proposals({ state: 'live', kind: 'block' });
    return rows[0]?.waitsFor === 'approval' ? rows : null;
  });
  const { id } = row!;
  expect((await client.control()).counts).toMatchObject({ approvals: 1, proposals: { proposed: 1 } });
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

test('entries of the journal are undone and made again by HTTP', { timeout: MS }, async () => {
  const { client, world, view, journal, read } = await open(files);
  await until(
    'an answer',
    () =>
      client.status().then(
        () => true,
        () => false,
      ),
    { everyMs: 100 },
  );
  const entriesOf = (rows: readonly JournalRow[]): readonly number[] =>
    rows.flatMap(({ changes }) =>
      changes.flatMap(({ intents, entry }) => (intents.includes('no-telnet') ? [entry!] : [])),
    );
  const before = await world.entries('10.0.2.1');
  const entries = entriesOf((await client.journal({ what: 'written', limit: 500 })).rows);
  expect(entries.length).toBeGreaterThan(0);
  await client.order({ order: 'undo', entries, by: 'ann', reason: 'a test' });
  await until('leaf1 without them', async () => (await world.entries('10.0.2.1')).length < before.length);
  const state = await until('the state', async () => {
    const answer = await client.control();
    return answer.undone?.length === 1 ? answer : null;
  });
  expect(state.undone).toEqual([{ entries: expect.arrayContaining([...entries]), by: 'dashboard: ann' }]);
  const undone = (await client.journal({ what: 'undone' })).rows;
  expect(undone).toMatchObject([{ by: 'dashboard: ann' }]);
  const [, ranges = ''] = /^entries ([\d -]+) of the journal: a test$/.exec(undone[0]!.reason) ?? [];
  const told = ranges.split(' ').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index);
  });
  expect(told).toEqual([...entries].sort((left, right) => left - right));
  const again = client.order({ order: 'undo', entries: [1_000_000] }).catch((error: unknown) => error);
  expect(await again).toMatchObject({ code: 'ERR_ORDER', message: 'entry 1000000 is not remembered' });
  await client.order({ order: 'redo', entries });
  await until('leaf1 with them', async () => (await world.entries('10.0.2.1')).length === before.length);

  // Whoever comes after a restart sees what was written before.
  const next = new ControlView(() => read);
  next.remember(journal.entries);
  const written = ({ what }: JournalRow): boolean => what === 'written';
  const shown = (rows: readonly JournalRow[]) => rows.filter(written).map(({ id: _, ...row }) => row);
  expect(shown(next.journal())).toEqual(shown(view.journal()));
});

test('the emergency stop, and what is refused', { timeout: MS }, async () => {
  const { dashboard, see, client, view } = await open(files);
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
    ...['{"order":"undo","entries":[]}', '{"order":"undo","entries":[1.5]}', '{"order":"redo"}'],
    ...['{"order":"undo","entries":[1],"proposal":"x"}', '{"order":"stop","entries":[1]}'],
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
