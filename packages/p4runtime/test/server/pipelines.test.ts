import { create } from '@bufbuild/protobuf';
import { p4config, p4infoOf, p4v1 } from '@int/p4runtime';
import { readDeviceProgram, writeDeviceProgram } from '@int/p4runtime/internals';
import { buildProgram } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { type Bench, Code, codeOf, createBench, refusalOf } from './controller.js';
import {
  ACTION,
  bytes,
  DEVICE_CONFIG,
  does,
  entity,
  entry,
  exact,
  frame,
  INFO,
  INSERT,
  idOf,
  MODIFY,
  SOURCE,
  station,
  TABLE,
  update,
} from './everything.js';

const { VERIFY, VERIFY_AND_SAVE, VERIFY_AND_COMMIT, COMMIT, RECONCILE_AND_COMMIT, UNSPECIFIED } =
  p4v1.SetForwardingPipelineConfigRequest_Action;
const { ALL, COOKIE_ONLY, P4INFO_AND_COOKIE, DEVICE_CONFIG_AND_COOKIE } =
  p4v1.GetForwardingPipelineConfigRequest_ResponseType;

const CONFIG = { p4info: INFO, p4DeviceConfig: DEVICE_CONFIG, cookie: { cookie: 99n } };

async function empty(): Promise<Bench> {
  const bench = createBench({ isEmpty: true });
  await bench.controller.lead();
  return bench;
}

async function full(): Promise<Bench> {
  const bench = createBench();
  await bench.controller.lead();
  return bench;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

describe('SetForwardingPipelineConfig (P4Runtime 1.5, section 14)', () => {
  it('checks device, role and primary in this order: NOT_FOUND, NOT_FOUND, PERMISSION_DENIED', async () => {
    const { controller } = await empty();
    const { client } = controller;
    expect(await codeOf(client.setForwardingPipelineConfig({ deviceId: 7n }))).toBe(Code.NotFound);
    expect(await codeOf(client.setForwardingPipelineConfig({ deviceId: 1n, role: 'x' }))).toBe(Code.NotFound);
    expect(await codeOf(client.setForwardingPipelineConfig({ deviceId: 1n }))).toBe(Code.PermissionDenied);
  });

  it('refuses an action that is not set with INVALID_ARGUMENT', async () => {
    expect(await (await empty()).controller.setPipeline(UNSPECIFIED, CONFIG)).toBe(Code.InvalidArgument);
  });

  it('VERIFY changes nothing, and refuses a missing or wrong config with INVALID_ARGUMENT', async () => {
    const { controller, target } = await empty();
    expect(await controller.setPipeline(VERIFY, CONFIG)).toBe(0);
    expect(target.machine).toBeUndefined();
    expect(await controller.setPipeline(VERIFY)).toBe(Code.InvalidArgument);
    for (const p4DeviceConfig of ['', 'no program', '{"__meta__": {}, "pipelines": []}', '{', '\xff']) {
      const config = { ...CONFIG, p4DeviceConfig: new TextEncoder().encode(p4DeviceConfig) };
      expect(await controller.setPipeline(VERIFY, config)).toBe(Code.InvalidArgument);
    }
    expect((await controller.client.getForwardingPipelineConfig({ deviceId: 1n })).config).toBeUndefined();
  });

  it('refuses P4Info that is not that of the program with INVALID_ARGUMENT', async () => {
    const { controller } = await empty();
    const broken = (change: (info: p4config.P4Info) => void): Promise<number> => {
      const p4info = p4infoOf(buildProgram({ name: 'p', text: SOURCE }).program!);
      change(p4info);
      return controller.setPipeline(VERIFY, { ...CONFIG, p4info });
    };
    const changes: ((info: p4config.P4Info) => void)[] = [
      (info) => (info.tables[0]!.preamble!.name = 'I.nothing'),
      (info) => (info.tables[0]!.preamble!.id = 0),
      (info) => (info.tables[0]!.preamble!.id = info.tables[1]!.preamble!.id),
      (info) => (info.tables[0]!.matchFields[0]!.bitwidth = 47),
      (info) =>
        (info.tables[0]!.matchFields[0]!.match = { case: 'matchType', value: p4config.MatchField_MatchType.LPM }),
      (info) => info.tables[0]!.actionRefs.push(create(p4config.ActionRefSchema, { id: 0x0100_0001 })),
      (info) => (info.actions[0]!.params = [create(p4config.Action_ParamSchema, { id: 1, name: 'x', bitwidth: 1 })]),
      (info) => (info.registers[0]!.size = 1),
      (info) => info.digests.push(create(p4config.DigestSchema, { preamble: { id: 0x0100_0001, name: 'x' } })),
      (info) => (info.tables[0]!.implementationId = 0x1100_0099),
      (info) => (info.valueSets[0]!.match[0]!.bitwidth = 3),
    ];
    for (const change of changes) expect(await broken(change)).toBe(Code.InvalidArgument);
    expect(await broken(() => {})).toBe(0);
  });

  it('takes no P4Info that refers to itself without end', async () => {
    const { controller } = await empty();
    const p4info = p4infoOf(buildProgram({ name: 'p', text: SOURCE }).program!);
    const spec = create(p4config.P4DataTypeSpecSchema, { typeSpec: { case: 'struct', value: { name: 'learned_t' } } });
    const member = create(p4config.P4StructTypeSpec_MemberSchema, { name: 'again', typeSpec: spec });
    p4info.typeInfo!.structs.learned_t!.members.push(member, member);
    expect(await controller.setPipeline(VERIFY, { ...CONFIG, p4info })).toBe(Code.InvalidArgument);
  });

  it('takes the program in a P4DeviceConfig message, as older controllers send it, and gives back the same bytes', async () => {
    const { controller } = await empty();
    const program = CONFIG.p4DeviceConfig;
    // Tags and values of `reassign` and `device_data` (p4/tmp/p4config.proto), by hand: the message is no part of P4Runtime.
    const wrapped = bytes(0x08, 1, 0x1a, ...varint(program.length), ...program);
    const config = { ...CONFIG, p4DeviceConfig: wrapped };
    expect(await controller.setPipeline(VERIFY_AND_COMMIT, config)).toBe(0);
    const { config: got } = await controller.client.getForwardingPipelineConfig({ deviceId: 1n });
    expect(got?.p4DeviceConfig).toEqual(wrapped);
    for (const damaged of [wrapped.slice(0, -1), bytes(0x08, 1), bytes(0x1a), bytes(0x08, 1, 0x1a, 0)]) {
      const error = await refusalOf(
        controller.client.setForwardingPipelineConfig({
          deviceId: 1n,
          electionId: { low: 1n },
          action: VERIFY,
          config: { ...CONFIG, p4DeviceConfig: damaged },
        }),
      );
      expect(error).toEqual({ code: Code.InvalidArgument, message: expect.stringContaining('P4DeviceConfig') });
    }
  });

  it('tells who sends the JSON of another switch, bare or in such a message, to send the source', async () => {
    const { controller } = await empty();
    const json = new TextEncoder().encode('{"header_types": [], "program": "x.p4i", "__meta__": {"version": [2, 23]}}');
    for (const p4DeviceConfig of [json, bytes(0x08, 1, 0x1a, ...varint(json.length), ...json)]) {
      const config = { ...CONFIG, p4DeviceConfig };
      const request = { deviceId: 1n, electionId: { low: 1n }, action: VERIFY_AND_COMMIT, config };
      expect(await refusalOf(controller.client.setForwardingPipelineConfig(request))).toEqual({
        code: Code.InvalidArgument,
        message: 'the device config is JSON for another switch, such as BMv2: send the source of the P4 program',
      });
    }
  });

  it('VERIFY_AND_COMMIT realises the config, and clears the forwarding state', async () => {
    const { controller, target } = await full();
    expect(await controller.code(update(INSERT, station(1, 7)))).toBe(0);
    expect(target.machine?.process(0, frame(1))).toHaveLength(1);
    expect(await controller.setPipeline(VERIFY_AND_COMMIT, CONFIG)).toBe(0);
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([]);
    expect(target.machine?.process(0, frame(1))).toHaveLength(0);
  });

  it('VERIFY_AND_SAVE leaves packets as they are, Writes and Reads go to the new config, COMMIT realises both', async () => {
    const { controller, target } = await full();
    expect(await controller.code(update(INSERT, station(1, 7)))).toBe(0);
    const before = target.machine;
    expect(await controller.setPipeline(VERIFY_AND_SAVE, CONFIG)).toBe(0);
    expect(target.machine).toBe(before);
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([]);
    expect(await controller.code(update(INSERT, station(2, 8)))).toBe(0);
    expect(before?.process(0, frame(1))).toHaveLength(1);
    expect(before?.process(0, frame(2))).toHaveLength(0);
    expect(await controller.setPipeline(COMMIT)).toBe(0);
    expect(target.machine?.process(0, frame(1))).toHaveLength(0);
    expect(target.machine?.process(0, frame(2))).toMatchObject([{ port: 8 }]);
  });

  it('COMMIT refuses a config with INVALID_ARGUMENT, and answers NOT_FOUND without a saved one', async () => {
    const { controller } = await full();
    expect(await controller.setPipeline(COMMIT, CONFIG)).toBe(Code.InvalidArgument);
    expect(await controller.setPipeline(COMMIT)).toBe(Code.NotFound);
  });

  it('RECONCILE_AND_COMMIT keeps the forwarding state', async () => {
    const { controller, target } = await full();
    const group = entity('packetReplicationEngineEntry', {
      type: {
        case: 'multicastGroupEntry',
        value: { multicastGroupId: 3, replicas: [{ portKind: { case: 'port', value: bytes(4) }, instance: 1 }] },
      },
    });
    const counter = entity('counterEntry', {
      counterId: idOf('counters', 'I.ports'),
      index: { index: 5n },
      data: { byteCount: 3n, packetCount: 2n },
    });
    const chosen = entry({
      tableId: TABLE.keyless,
      isDefaultAction: true,
      action: does(ACTION.forward, bytes(9)),
    });
    const changed = entry({
      tableId: TABLE.initial,
      match: [exact(1, bytes(2))],
      action: does(ACTION.forward, bytes(5)),
    });
    expect(
      await controller.codes([
        update(INSERT, station(1, 7, { metadata: bytes(1, 2), idleTimeoutNs: 5_000_000_000n })),
        update(INSERT, group),
        update(MODIFY, counter),
        update(MODIFY, chosen),
        update(MODIFY, changed),
      ]),
    ).toEqual([0, 0, 0, 0, 0]);
    const all = [
      entry({ counterData: {}, meterConfig: {} }),
      entity('counterEntry', {}),
      entity('packetReplicationEngineEntry', { type: { case: 'multicastGroupEntry', value: {} } }),
      entry({ tableId: TABLE.keyless, isDefaultAction: true }),
    ];
    const before = await controller.read(...all);
    const machine = target.machine;
    expect(await controller.setPipeline(RECONCILE_AND_COMMIT, CONFIG)).toBe(0);
    expect(target.machine).not.toBe(machine);
    expect(await controller.read(...all)).toEqual(before);
    expect(target.machine?.process(0, frame(1))).toMatchObject([{ port: 7 }]);
  });

  it('RECONCILE_AND_COMMIT changes nothing, and answers INVALID_ARGUMENT, if the state cannot be kept', async () => {
    const { controller, target } = await full();
    expect(await controller.code(update(INSERT, station(1, 7)))).toBe(0);
    const text = SOURCE.replaceAll('stations', 'others');
    const p4info = p4infoOf(buildProgram({ name: 'p', text }).program!);
    const p4DeviceConfig = new TextEncoder().encode(text);
    const machine = target.machine;
    expect(await controller.setPipeline(RECONCILE_AND_COMMIT, { p4info, p4DeviceConfig })).toBe(Code.InvalidArgument);
    expect(await controller.setPipeline(RECONCILE_AND_COMMIT)).toBe(Code.InvalidArgument);
    expect(target.machine).toBe(machine);
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toHaveLength(1);
  });

  it('compiles programs within limits', async () => {
    const { controller } = createBench({ isEmpty: true, target: { limits: { tokens: 100 } } });
    await controller.lead();
    expect(await controller.setPipeline(VERIFY, CONFIG)).toBe(Code.InvalidArgument);
  });
});

describe('GetForwardingPipelineConfig (P4Runtime 1.5, section 15)', () => {
  it('gives back what was set, by response type', async () => {
    const { controller } = await empty();
    expect(await controller.setPipeline(VERIFY_AND_COMMIT, CONFIG)).toBe(0);
    const get = async (responseType: p4v1.GetForwardingPipelineConfigRequest_ResponseType): Promise<unknown> =>
      (await controller.client.getForwardingPipelineConfig({ deviceId: 1n, responseType })).config;
    const whole = create(p4v1.ForwardingPipelineConfigSchema, CONFIG);
    const { cookie, p4info, p4DeviceConfig } = whole;
    expect(await get(ALL)).toEqual(whole);
    expect(await get(COOKIE_ONLY)).toEqual(create(p4v1.ForwardingPipelineConfigSchema, { cookie }));
    expect(await get(P4INFO_AND_COOKIE)).toEqual(create(p4v1.ForwardingPipelineConfigSchema, { cookie, p4info }));
    expect(await get(DEVICE_CONFIG_AND_COOKIE)).toEqual(
      create(p4v1.ForwardingPipelineConfigSchema, { cookie, p4DeviceConfig }),
    );
    expect(await codeOf(get(9 as never))).toBe(Code.InvalidArgument);
  });

  it('has no config before one was set, needs no primary, and answers NOT_FOUND for an unknown device', async () => {
    const { controller } = createBench({ isEmpty: true });
    expect((await controller.client.getForwardingPipelineConfig({ deviceId: 1n })).config).toBeUndefined();
    expect(await codeOf(controller.client.getForwardingPipelineConfig({ deviceId: 2n }))).toBe(Code.NotFound);
  });
});

describe('Capabilities (P4Runtime 1.5, section 17)', () => {
  it('names the version, and answers NOT_FOUND for an unknown device', async () => {
    const { client } = createBench({ isEmpty: true }).controller;
    expect((await client.capabilities({})).p4runtimeApiVersion).toBe('1.5.0');
    expect((await client.capabilities({ deviceId: 1n })).p4runtimeApiVersion).toBe('1.5.0');
    expect(await codeOf(client.capabilities({ deviceId: 2n }))).toBe(Code.NotFound);
  });
});

describe('device configs', () => {
  it('hold a program with its includes', () => {
    const program = {
      main: 'a.p4',
      files: { 'a.p4': '#include "b.p4"', 'b.p4': '' },
      includes: [['a.p4', 'b.p4', 'b.p4']] as const,
      defines: { N: '3' },
    };
    expect(readDeviceProgram(writeDeviceProgram(program))).toEqual(program);
    const plain = writeDeviceProgram({ main: 'a.p4', files: { 'a.p4': 'text' }, includes: [], defines: {} });
    expect(new TextDecoder().decode(plain)).toBe('text');
  });

  it('of a bundle run', async () => {
    const { controller, target } = await empty();
    const at = SOURCE.indexOf('struct headers_t');
    const p4DeviceConfig = writeDeviceProgram({
      main: 'main.p4',
      files: { 'main.p4': `#include "parts/head.p4"\n${SOURCE.slice(at)}`, head: SOURCE.slice(0, at) },
      includes: [['main.p4', 'parts/head.p4', 'head']],
      defines: {},
    });
    expect(await controller.setPipeline(VERIFY_AND_COMMIT, { p4info: INFO, p4DeviceConfig })).toBe(0);
    expect(target.machine).toBeDefined();
  });
});
