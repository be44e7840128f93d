/**
 * A client with the types of a program. What the compiler must refuse is marked with `@ts-expect-error`: the type check of this
 * file fails where it does not.
 */
import { readFileSync } from 'node:fs';
import { match, P4InfoError, P4RuntimeClient, P4RuntimeError, type ProgramTypes } from '@int/p4runtime';
import { programTypes } from '@int/p4runtime/internals';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { type Bench, createBench } from '../server/controller.js';
import { INFO } from '../server/everything.js';
import type { Everything } from './everything-types.js';

let bench: Bench;
let client: P4RuntimeClient<Everything>;
beforeEach(async () => {
  bench = createBench();
  client = new P4RuntimeClient<Everything>({ target: bench.server.transport() });
  await client.connect();
});
afterEach(async () => {
  await client.close();
  await bench.server.close();
});

/** What is refused when it is written, too. */
const refused = async (write: Promise<void>): Promise<void> => {
  const error = await write.catch((each: unknown) => each);
  expect(P4RuntimeError.is(error) || P4InfoError.is(error)).toBe(true);
};

describe('types of a program', () => {
  it('are those that its P4Info gives', () => {
    const written = readFileSync(new URL('everything-types.ts', import.meta.url), 'utf8');
    expect(written).toBe(programTypes(INFO, 'Everything'));
    expectTypeOf<Everything>().toExtend<ProgramTypes>();
  });

  it('take names in full and short, and the matches of each kind', async () => {
    const { exact, lpm, optional, range, ternary } = match;
    const rule = client.entry(
      'I.rules',
      { opcode: 7, medium: ternary(1, 3), small: range(1, 5), huge: optional(4), large: lpm('10.0.0.0/8') },
      'forward',
      { port: 3 },
      { priority: 10 },
    );
    const station = client.entry('stations', { 'hdr.frame.dst': exact('02:00:00:00:00:01') }, 'I.drop');
    await client.insert(rule, station, client.entry('rules', { opcode: 8 }, 'NoAction', {}, { priority: 1 }));
    await client.modify(client.entry('keyless', {}, 'forward', { port: 1 }, { isDefault: true }));
    await client.modify({ kind: 'register', register: 'cells', index: 2, value: 5n });
    await client.modify({ kind: 'register', register: 'I.flags', index: 2, value: true });
    await client.modify({ kind: 'value-set', valueSet: 'types', members: [{ '': 0x800 }] });
    await client.insert({
      kind: 'member',
      profile: 'members',
      id: 1,
      action: { action: 'forward', params: { port: 2 } },
    });
    await client.insert(client.entry('indirect', { medium: 5 }, { member: 1 }));
    await client.insert(
      client.entry('balanced', { large: 5 }, { oneShot: [{ action: 'I.forward', params: { port: 2 }, weight: 1 }] }),
    );
    const found = [];
    for await (const each of client.entries('rules')) {
      expectTypeOf(each.match['hdr.body.opcode']).toEqualTypeOf<{
        readonly kind: 'exact';
        readonly value: import('@int/p4runtime').Value;
      }>();
      if (each.action?.action === 'I.forward') expectTypeOf(each.action.params.port).toEqualTypeOf<bigint | string>();
      found.push(each);
      await client.delete(each);
    }
    expect(found.map(({ table, action }) => [table, action?.action])).toEqual([
      ['I.rules', 'I.forward'],
      ['I.rules', 'NoAction'],
    ]);
    await client.packetOut(new Uint8Array(60), { egress_port: 1, padding: 0, is_direct: 1 });
    const packets = client.packets();
    expectTypeOf<Parameters<Parameters<typeof readPackets>[0]>[0]>().toEqualTypeOf<bigint>();
    packets.close();
  });

  it('refuse other tables, fields, matches, actions and parameters', async () => {
    // @ts-expect-error: no such table
    await refused(client.insert(client.entry('I.nowhere', {}, 'I.drop')));
    // @ts-expect-error: no such field
    await refused(client.insert(client.entry('stations', { address: 1 }, 'I.drop')));
    // @ts-expect-error: the exact field is missing
    await refused(client.insert(client.entry('rules', { medium: 1 }, 'I.drop', {}, { priority: 1 })));
    // @ts-expect-error: a range of an exact field
    await refused(client.insert(client.entry('stations', { dst: match.range(1, 2) }, 'I.drop')));
    const medium = match.range(1, 2);
    // @ts-expect-error: a range of a ternary field
    const ranged = client.entry('rules', { opcode: 1, medium }, 'I.drop', {}, { priority: 1 });
    await refused(client.insert(ranged));
    // @ts-expect-error: an action of another table
    await refused(client.insert(client.entry('routes', { large: '10.0.0.0/8' }, 'I.flood', { group: 1 })));
    // @ts-expect-error: the parameter is missing
    await refused(client.insert(client.entry('stations', { dst: 1 }, 'I.forward')));
    // @ts-expect-error: another parameter
    await refused(client.insert(client.entry('stations', { dst: 1 }, 'I.forward', { gate: 1 })));
    // @ts-expect-error: a member in a direct table
    await refused(client.insert(client.entry('stations', { dst: 1 }, { member: 1 })));
    // @ts-expect-error: a group in a table without selector
    await refused(client.insert(client.entry('indirect', { medium: 1 }, { group: 1 })));
    // @ts-expect-error: an action in an indirect table
    await refused(client.insert(client.entry('indirect', { medium: 1 }, { action: 'I.drop', params: {} })));
  });

  it('refuse other objects and data', async () => {
    // @ts-expect-error: no such register
    await refused(client.modify({ kind: 'register', register: 'I.ports', index: 1, value: 1n }));
    // @ts-expect-error: a number in a register of booleans, which the client would take for one
    await client.modify({ kind: 'register', register: 'I.flags', index: 1, value: 1n });
    // @ts-expect-error: no such counter
    await refused(client.modify({ kind: 'counter', counter: 'I.cells', index: 1, value: { packets: 1n, bytes: 1n } }));
    // @ts-expect-error: no such meter
    await refused(client.modify({ kind: 'meter', meter: 'I.ports', index: 1 }));
    // @ts-expect-error: no such digest
    await refused(client.insert({ kind: 'digest', digest: 'I.stations' }));
    // @ts-expect-error: no such field of a value set
    await refused(client.modify({ kind: 'value-set', valueSet: 'types', members: [{ type: 1 }] }));
    const flood = { action: 'I.flood', params: { group: 1 } } as const;
    // @ts-expect-error: an action that members do not have
    await refused(client.insert({ kind: 'member', profile: 'members', id: 9, action: flood }));
    // @ts-expect-error: no such profile
    await refused(client.insert({ kind: 'group', profile: 'I.stations', id: 1, members: [] }));
    // @ts-expect-error: fields of the header are missing
    await refused(client.packetOut(new Uint8Array(60), { egress_port: 1 }));
    // @ts-expect-error: entries of a table that is not there
    const entries = client.entries('I.nowhere');
    await refused(entries.next().then(() => {}));
  });

  it('of digests and packets are those of their declarations', () => {
    expectTypeOf(readDigests).parameter(0).toEqualTypeOf<(station: bigint, port: bigint) => void>();
  });
});

/** Never called: for its types. */
async function readPackets(read: (port: bigint, reason: bigint) => void): Promise<void> {
  for await (const { metadata } of client.packets()) read(metadata.ingress_port, metadata.reason);
}

async function readDigests(read: (station: bigint, port: bigint) => void): Promise<void> {
  for await (const { digest, data } of client.digests()) {
    if (digest === 'learned_t') for (const { station, port } of data) read(station, port);
  }
}
