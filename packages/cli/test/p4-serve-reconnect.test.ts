/** A controller whose switch is killed, and comes back without anything: `int p4 serve` as a process. */
import { P4RuntimeClient, type P4RuntimeClientOptions, p4infoOf, type SessionState } from '@int/p4runtime';
import { buildProgram } from '@int/p4vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freeTcpPort } from '../../../.ci/test/ports.mjs';
import { until } from '../../../.ci/test/until.js';
import { SWITCH } from './p4-programs.js';
import { Running, temporaryFolder } from './run.js';

const files = temporaryFolder();

/** A switch at a port, with a program or without. */
async function serve(port: number, ...args: string[]): Promise<Running> {
  const tunnel = ['--port', '1=udp:127.0.0.1:0-127.0.0.1:9'];
  const running = new Running(['p4', 'serve', ...args, '--listen', `127.0.0.1:${port}`, ...tunnel]);
  await running.saying(/P4Runtime at 127\.0\.0\.1:/);
  return running;
}

async function kill(running: Running): Promise<void> {
  running.child.kill('SIGKILL');
  await running.end();
}

function clientOf(port: number, options: Omit<P4RuntimeClientOptions, 'target' | 'onState'>) {
  const states: SessionState[] = [];
  const client = new P4RuntimeClient({
    target: `127.0.0.1:${port}`,
    retry: { firstMs: 20, maxMs: 200 },
    ...options,
    onState: (state) => states.push(state),
  });
  onTestFinished(() => client.close());
  const count = (kind: SessionState['kind']): number => states.filter((each) => each.kind === kind).length;
  return { client, states, count };
}

async function actions(client: P4RuntimeClient): Promise<unknown[]> {
  const found = [];
  for await (const { match, action } of client.entries('t')) found.push([match, action]);
  return found;
}

const ENTRY = [{ 'hdr.h.a': { kind: 'exact', value: 5n } }, { action: 'I.to', params: { port: 1n } }];

describe('a controller of a switch that is killed', () => {
  test('finds it again with empty tables, is its primary again, and gives it what it keeps', async () => {
    const path = await files.write('switch.p4', SWITCH);
    const port = await freeTcpPort();
    const kept = {
      kind: 'table-entry',
      table: 't',
      match: { a: 5 },
      action: { action: 'to', params: { port: 1 } },
    } as const;
    let running = await serve(port, path);
    const { client, states, count } = clientOf(port, { electionId: 5, keep: () => [kept] });
    expect(await client.connect()).toBe(true);
    await until('the entry', () => count('reconciled') === 1);
    for (let round = 2; round < 3; round++) {
      await kill(running);
      await until('the loss is seen', () => count('disconnected') >= round - 1 && !client.isPrimary);
      const error = await client.insert(kept).catch((each: unknown) => each);
      expect(error).toMatchObject({ code: 'ERR_P4RUNTIME_CONNECTION' });
      running = await serve(port, path);
      await until('it has what is kept', () => count('reconciled') === round, { found: () => states });
      expect(states.at(-1)).toEqual({ kind: 'reconciled', changes: 1, hasNewPipeline: false });
      expect(client.isPrimary).toBe(true);
      expect(await actions(client)).toEqual([ENTRY]);
    }
    expect(count('primary')).toBe(2);
  }, 120_000);

  test('gives it its program, too, if it comes back without one', async () => {
    const port = await freeTcpPort();
    const { program } = buildProgram({ name: 'switch.p4', text: SWITCH });
    const pipeline = { p4info: p4infoOf(program!), deviceConfig: new TextEncoder().encode(SWITCH), cookie: 7n };
    let running = await serve(port);
    const { client, states, count } = clientOf(port, {
      pipeline,
      keep: () => [client.entry('t', { a: 5 }, 'to', { port: 1 })],
    });
    await client.connect();
    await until('the program', () => count('reconciled') === 1, { found: () => states });
    expect(states.at(-1)).toEqual({ kind: 'reconciled', changes: 1, hasNewPipeline: true });
    await kill(running);
    running = await serve(port);
    await until('the program is there again', () => count('reconciled') === 2, { found: () => states });
    expect(states.at(-1)).toEqual({ kind: 'reconciled', changes: 1, hasNewPipeline: true });
    expect((await client.getPipeline())?.cookie).toBe(7n);
    expect(await actions(client)).toEqual([ENTRY]);
    // Another controller of the same switch finds nothing to do.
    const other = clientOf(port, {
      electionId: 9,
      pipeline,
      keep: () => [client.entry('t', { a: 5 }, 'to', { port: 1 })],
    });
    await other.client.connect();
    await until('the other is done', () => other.count('reconciled') === 1, { found: () => other.states });
    expect(other.states.at(-1)).toEqual({ kind: 'reconciled', changes: 0, hasNewPipeline: false });
    await kill(running);
  }, 120_000);
});
