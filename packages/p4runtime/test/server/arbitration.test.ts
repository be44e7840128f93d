import { create } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { p4v1 } from '@int/p4runtime';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { Code, Controller, codeOf, createBench } from './controller.js';
import { INSERT, station, update } from './everything.js';

const statusOf = ({ status }: p4v1.MasterArbitrationUpdate): number | undefined => status?.code;
const lowOf = ({ electionId }: p4v1.MasterArbitrationUpdate): bigint | undefined => electionId?.low;

describe('client arbitration (P4Runtime 1.5, section 5)', () => {
  it('ends the stream with NOT_FOUND for an unknown device', async () => {
    const session = createBench().controller.session();
    session.arbitrate(1n, 7n);
    expect((await session.end())?.code).toBe(Code.NotFound);
  });

  it('ends the stream with INVALID_ARGUMENT for an election id that another live stream has', async () => {
    const { controller } = createBench();
    await controller.lead(5n);
    const other = controller.session();
    other.arbitrate(5n);
    expect((await other.end())?.code).toBe(Code.InvalidArgument);
  });

  it('ends the stream with INVALID_ARGUMENT if a live stream takes the election id of another', async () => {
    const { controller } = createBench();
    await controller.lead(5n);
    const other = controller.session();
    other.arbitrate(3n);
    await other.next('arbitration');
    other.arbitrate(5n);
    expect((await other.end())?.code).toBe(Code.InvalidArgument);
  });

  it('takes the same election id in another role', async () => {
    const { controller } = createBench();
    await controller.lead(5n);
    const other = controller.session();
    other.arbitrate(5n, 1n, { name: 'other' });
    expect(statusOf(await other.next('arbitration'))).toBe(0);
  });

  it('ends the stream with RESOURCE_EXHAUSTED beyond the limit for a role, and beyond the limit for the server', async () => {
    const { controller } = createBench({ limits: { streamsPerRole: 2, streams: 4 } });
    await controller.lead(5n);
    const second = controller.session();
    second.arbitrate(4n);
    await second.next('arbitration');
    const third = controller.session();
    third.arbitrate(3n);
    expect((await third.end())?.code).toBe(Code.ResourceExhausted);
    const more = [1, 2, 3].map(() => controller.session());
    for (const each of more) each.arbitrate(undefined, 1n, { name: 'other' });
    await until('a refused stream', () => more.some(({ ended }) => ended?.code === Code.ResourceExhausted));
  });

  it('ends the stream with FAILED_PRECONDITION if its device changes', async () => {
    const { controller } = createBench({ devices: [{ deviceId: 2, target: createBench().target }] });
    const session = await controller.lead(5n);
    session.arbitrate(5n, 2n);
    expect((await session.end())?.code).toBe(Code.FailedPrecondition);
  });

  it('ends the stream with FAILED_PRECONDITION if its role changes', async () => {
    const { controller } = createBench();
    const session = await controller.lead(5n);
    session.arbitrate(5n, 1n, { name: 'other' });
    expect((await session.end())?.code).toBe(Code.FailedPrecondition);
  });

  it('ends the stream with INVALID_ARGUMENT for a role configuration: there is no scheme for it', async () => {
    const session = createBench().controller.session();
    const config = anyPack(p4v1.IndexSchema, create(p4v1.IndexSchema, { index: 1n }));
    session.arbitrate(1n, 1n, { name: 'other', config });
    expect((await session.end())?.code).toBe(Code.InvalidArgument);
  });

  it('makes the first client with an election id primary, and tells it', async () => {
    const { controller } = createBench();
    const session = await controller.lead(5n);
    expect(statusOf(session.of('arbitration')[0]!)).toBe(0);
    expect(session.of('arbitration')[0]).toMatchObject({ deviceId: 1n, electionId: { high: 0n, low: 5n } });
  });

  it('never makes a client without an election id primary', async () => {
    const { controller } = createBench();
    const session = controller.session();
    session.arbitrate(undefined);
    const told = await session.next('arbitration');
    expect(statusOf(told)).toBe(Code.NotFound);
    expect(told.electionId).toBeUndefined();
    const { deviceId } = controller;
    expect(await codeOf(controller.client.write({ deviceId, updates: [] }))).toBe(Code.PermissionDenied);
  });

  it('takes the election id 0 as one, unlike none', async () => {
    const session = await createBench().controller.lead(0n);
    expect(statusOf(session.of('arbitration')[0]!)).toBe(0);
  });

  it('compares election ids as 128 bits', async () => {
    const { controller } = createBench();
    const first = await controller.lead(0xffff_ffff_ffff_ffffn);
    const second = controller.session();
    second.send({ update: { case: 'arbitration', value: { deviceId: 1n, electionId: { high: 1n, low: 0n } } } });
    expect(statusOf(await second.next('arbitration'))).toBe(0);
    expect(statusOf(await first.next('arbitration', 2))).toBe(Code.AlreadyExists);
  });

  it('tells a backup of the primary and its election id, and the primary nothing', async () => {
    const { controller } = createBench();
    const first = await controller.lead(5n);
    const backup = controller.session();
    backup.arbitrate(3n);
    const told = await backup.next('arbitration');
    expect([statusOf(told), lowOf(told)]).toEqual([Code.AlreadyExists, 5n]);
    expect(first.of('arbitration')).toHaveLength(1);
  });

  it('makes a client with a higher election id primary, and tells all', async () => {
    const { controller } = createBench();
    const first = await controller.lead(5n);
    const second = controller.session();
    second.arbitrate(6n);
    expect(statusOf(await second.next('arbitration'))).toBe(0);
    const told = await first.next('arbitration', 2);
    expect([statusOf(told), lowOf(told)]).toEqual([Code.AlreadyExists, 6n]);
    expect(await controller.codes([]).catch(() => [])).toEqual([]);
    expect(await codeOf(controller.write([]))).toBe(Code.PermissionDenied);
    controller.electionId = 6n;
    expect(await codeOf(controller.write([]))).toBe(0);
  });

  it('tells all that there is no primary when it leaves, and promotes no backup', async () => {
    const { controller } = createBench();
    const first = await controller.lead(5n);
    const backup = controller.session();
    backup.arbitrate(3n);
    await backup.next('arbitration');
    first.close();
    const told = await backup.next('arbitration', 2);
    expect([statusOf(told), lowOf(told)]).toEqual([Code.NotFound, 5n]);
    controller.electionId = 3n;
    expect(await codeOf(controller.write([]))).toBe(Code.PermissionDenied);
    controller.electionId = 5n;
    expect(await codeOf(controller.write([]))).toBe(Code.PermissionDenied);
  });

  it('remembers the highest election id after its client left', async () => {
    const { controller, server } = createBench();
    const first = await controller.lead(5n);
    first.cancel();
    await until('the end of the first stream', () => server.streams === 0);
    const lower = controller.session();
    lower.arbitrate(4n);
    expect(statusOf(await lower.next('arbitration'))).toBe(Code.NotFound);
    const equal = controller.session();
    equal.arbitrate(5n);
    expect(statusOf(await equal.next('arbitration'))).toBe(0);
    expect(statusOf(await lower.next('arbitration', 2))).toBe(Code.AlreadyExists);
  });

  it('lets a primary downgrade itself, and tells all', async () => {
    const { controller } = createBench();
    const first = await controller.lead(5n);
    const backup = controller.session();
    backup.arbitrate(3n);
    await backup.next('arbitration');
    first.arbitrate(2n);
    expect(statusOf(await first.next('arbitration', 2))).toBe(Code.NotFound);
    expect(statusOf(await backup.next('arbitration', 2))).toBe(Code.NotFound);
  });

  it('tells backups of a new election id of the same primary', async () => {
    const { controller } = createBench();
    const first = await controller.lead(5n);
    const backup = controller.session();
    backup.arbitrate(3n);
    await backup.next('arbitration');
    first.arbitrate(9n);
    expect(lowOf(await backup.next('arbitration', 2))).toBe(9n);
    expect(statusOf(await first.next('arbitration', 2))).toBe(0);
  });

  it('tells the new primary only after the Writes of the one before are done', async () => {
    const { controller, server } = createBench();
    await controller.lead(5n);
    const updates = Array.from({ length: 1000 }, (_, n) => update(INSERT, station(n)));
    const order: string[] = [];
    const write = controller.codes(updates).then((codes) => {
      order.push('written');
      return codes;
    });
    await until('a Write in flight', () => (server.statistics(1)?.reads ?? 0) === 0);
    const second = controller.session();
    second.arbitrate(6n);
    void second.next('arbitration').then(() => order.push('told'));
    expect(new Set(await write)).toEqual(new Set([0]));
    await until('the new primary', () => order.includes('told'));
    expect(order).toEqual(['written', 'told']);
  });

  it('keeps roles apart: each has its primary', async () => {
    const { controller, server } = createBench();
    await controller.lead(5n);
    const other = new Controller(server.transport());
    other.role = 'other';
    const session = await other.lead(1n);
    expect(session.of('arbitration')[0]?.role?.name).toBe('other');
    expect(await codeOf(other.write([]))).toBe(0);
    expect(await codeOf(controller.write([]))).toBe(0);
  });

  it('refuses an unknown role with NOT_FOUND where roles are configured, and lets the others do what they may', async () => {
    const roles = { tables: { entities: ['I.stations'], pipeline: false, packetOut: false } };
    const { server, controller } = createBench({ device: { roles } });
    const session = controller.session();
    session.arbitrate(1n, 1n, { name: 'nobody' });
    expect((await session.end())?.code).toBe(Code.NotFound);
    const limited = new Controller(server.transport());
    limited.role = 'tables';
    const stream = await limited.lead(1n);
    const group = create(p4v1.EntitySchema, {
      entity: {
        case: 'packetReplicationEngineEntry',
        value: { type: { case: 'multicastGroupEntry', value: { multicastGroupId: 1 } } },
      },
    });
    expect(await limited.codes([update(INSERT, station(1)), update(INSERT, group)])).toEqual([
      0,
      Code.PermissionDenied,
    ]);
    expect(await limited.setPipeline(p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY)).toBe(
      Code.PermissionDenied,
    );
    stream.send({ update: { case: 'packet', value: { payload: new Uint8Array(64) } } });
    expect((await stream.next('error')).canonicalCode).toBe(Code.PermissionDenied);
  });

  it('bounds the number of roles that it remembers', async () => {
    const { controller } = createBench({ limits: { roles: 2 } });
    for (const name of ['a', 'b']) {
      const session = controller.session();
      session.arbitrate(1n, 1n, { name });
      await session.next('arbitration');
    }
    const third = controller.session();
    third.arbitrate(1n, 1n, { name: 'c' });
    expect((await third.end())?.code).toBe(Code.ResourceExhausted);
    expect(statusOf((await controller.lead(1n)).of('arbitration')[0]!)).toBe(0);
  });
});
