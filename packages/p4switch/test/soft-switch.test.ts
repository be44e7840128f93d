import { PortError, SoftSwitch, type SoftSwitchOptions } from '@int/p4switch';
import { P4Error } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { frame, programOf, TO_A } from './programs.js';
import { TestPort } from './test-port.js';

function switchOf(program: string | null, options: SoftSwitchOptions = {}, numbers: readonly number[] = [1, 2, 3]) {
  const core = new SoftSwitch(options);
  const ports = new Map(numbers.map((number) => [number, new TestPort()]));
  for (const [number, port] of ports) core.addPort(number, port);
  if (program !== null) core.load(program);
  const port = (number: number): TestPort => ports.get(number)!;
  /** Turns until nothing is left to do but what waits for time. */
  const settle = (): void => {
    while (core.turn(64) > 0);
  };
  return { core, port, settle };
}

const word = (bytes: Uint8Array, at: number): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);

describe('SoftSwitch', () => {
  it('forwards between its ports, and counts', () => {
    const { core, port, settle } = switchOf(programOf(`${TO_A} hdr.h.b = (bit<8>) s.ingress_port;`));
    port(1).arriving.push(frame(2), frame(3), frame(2));
    port(3).arriving.push(frame(1));
    settle();
    expect(port(2).sent).toEqual([frame(2, 1), frame(2, 1)]);
    expect(port(3).sent).toEqual([frame(3, 1)]);
    expect(port(1).sent).toEqual([frame(1, 3)]);
    expect(port(1).flushes).toBeGreaterThan(0);
    expect(core.counts()).toMatchObject({ received: 4, transmitted: 4, waiting: 0, pipelines: 1 });
    expect(core.queue(2)).toMatchObject({ enqueued: 2, depth: 0, dropped: 0 });
  });

  it('counts frames that end in it, by reason: every frame is accounted for', () => {
    const { core, port, settle } = switchOf(null);
    port(1).arriving.push(frame(2));
    settle();
    expect(core.counts().dropped.noPipeline).toBe(1);
    core.load(programOf(`if (hdr.h.a == 9) { mark_to_drop(s); } else { ${TO_A} }`));
    port(1).arriving.push(frame(9), frame(8), frame(2));
    settle();
    expect(core.counts().dropped).toMatchObject({ noPipeline: 1, ingress: 1, noPort: 1 });
    expect(core.counts().received).toBe(4);
    expect(port(2).sent).toHaveLength(1);
  });

  it('keeps packets in a queue while a port has no room, and shows the program how many waited', () => {
    const { core, port, settle } = switchOf(
      programOf(TO_A, 'hdr.h.x = (bit<32>) s.enq_qdepth; hdr.h.y = (bit<32>) s.deq_qdepth;'),
    );
    port(2).capacity = 1;
    for (let i = 0; i < 4; i++) port(1).arriving.push(frame(2));
    settle();
    expect(port(2).sent).toHaveLength(1);
    expect(core.counts().waiting).toBe(3);
    port(2).capacity = 100;
    settle();
    expect(port(2).sent.map((bytes) => [word(bytes, 2), word(bytes, 6)])).toEqual([
      [0, 0],
      [0, 2],
      [1, 1],
      [2, 0],
    ]);
    expect(core.counts().waiting).toBe(0);
  });

  it('drops what a full queue cannot take', () => {
    const { core, port, settle } = switchOf(programOf(TO_A), { queuePackets: 2 });
    port(2).capacity = 1;
    for (let i = 0; i < 5; i++) port(1).arriving.push(frame(2, i));
    settle();
    port(2).capacity = 100;
    settle();
    expect(port(2).sent.map((bytes) => bytes[1])).toEqual([0, 1, 2]);
    expect(core.counts().dropped.queueFull).toBe(2);
    expect(core.queue(2)).toMatchObject({ enqueued: 3, dropped: 2, maxDepth: 2 });
  });

  it('sends at the rate of a port, and neither earlier nor, when it is late, slower', async () => {
    // 60 bytes at 48 kbit/s: 10 ms on the wire.
    const { core, port, settle } = switchOf(programOf(TO_A, 'hdr.h.x = s.deq_timedelta;'), { rateBps: 48_000 });
    const start = performance.now();
    for (let i = 0; i < 4; i++) port(1).arriving.push(frame(2));
    settle();
    while (core.counts().waiting > 0) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, core.dueMs - performance.now())));
      settle();
    }
    expect(performance.now() - start).toBeGreaterThan(29);
    expect(word(port(2).sent[3]!, 2)).toBeGreaterThan(0);
    expect(core.dueMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('has rates and depths that the control plane sets, also for ports that come later', () => {
    const { core, port, settle } = switchOf(programOf(TO_A));
    core.machine!.command('set_queue_depth 1 2');
    port(2).capacity = 0;
    for (let i = 0; i < 3; i++) port(1).arriving.push(frame(2));
    settle();
    expect(core.queue(2)).toMatchObject({ depth: 1, dropped: 2 });
  });

  it('clones, multicasts and recirculates', () => {
    const { core, port, settle } = switchOf(
      programOf(
        `if (hdr.h.b == 1) { s.mcast_grp = 5; }
         else if (hdr.h.b == 2) { clone(CloneType.I2E, 7); s.egress_spec = 2; }
         else { s.egress_spec = 1; }`,
        'if (hdr.h.b == 3) { hdr.h.b = 4; recirculate_preserving_field_list(0); }',
      ),
    );
    core.machine!.commands(
      ['mc_mgrp_create 5', 'mc_node_create 0 2 3', 'mc_node_associate 5 0', 'mirroring_add 7 3'].join('\n'),
    );
    port(1).arriving.push(frame(0, 1), frame(0, 2), frame(0, 3));
    settle();
    expect(port(2).sent.map((bytes) => bytes[1])).toEqual([1, 2]);
    expect(port(3).sent.map((bytes) => bytes[1])).toEqual([1, 2]);
    expect(port(1).sent.map((bytes) => bytes[1])).toEqual([4]);
    expect(core.counts()).toMatchObject({ multicastCopies: 2, ingressClones: 1, recirculated: 1 });
  });

  it('bounds packets that go round, and ends those that never stop', () => {
    const { core, port, settle } = switchOf(programOf('s.egress_spec = 1;', 'recirculate_preserving_field_list(0);'), {
      maxPasses: 20,
      recirculationPackets: 4,
    });
    for (let i = 0; i < 6; i++) port(1).arriving.push(frame(0));
    settle();
    expect(core.counts().dropped).toMatchObject({ queueFull: 2, loop: 4 });
    expect(core.counts().waiting).toBe(0);
  });

  it("gives frames of the control plane's port to the control plane, and takes its frames", () => {
    const { core, port, settle } = switchOf(
      programOf(`if (s.ingress_port == 510) { ${TO_A} } else { s.egress_spec = 510; }`),
      { cpuPort: 510 },
    );
    const seen: Uint8Array[] = [];
    core.onPacketIn = (bytes) => seen.push(bytes);
    port(1).arriving.push(frame(7));
    settle();
    expect(seen).toEqual([frame(7)]);
    core.packetOut(frame(3));
    core.flush();
    expect(port(3).sent).toEqual([frame(3)]);
    expect(core.counts()).toMatchObject({ packetsIn: 1, packetsOut: 1, received: 2 });
    expect(() => new SoftSwitch().packetOut(frame(1))).toThrow(TypeError);
  });

  it('replaces its program between two packets: what waits leaves by the program that it came in by', () => {
    const { core, port, settle } = switchOf(programOf(TO_A, 'hdr.h.b = 1;'));
    port(2).capacity = 1;
    for (let i = 0; i < 3; i++) port(1).arriving.push(frame(2));
    settle();
    const next = core.prepare(programOf(TO_A, 'hdr.h.b = 2;'));
    port(1).arriving.push(frame(3));
    settle();
    core.use(next);
    port(1).arriving.push(frame(2), frame(3));
    settle();
    expect(port(3).sent.map((bytes) => bytes[1])).toEqual([1, 2]);
    port(2).capacity = 100;
    settle();
    expect(port(2).sent.map((bytes) => bytes[1])).toEqual([1, 1, 1, 2]);
    expect(core.counts()).toMatchObject({ received: 6, transmitted: 6, pipelines: 2 });
    expect(core.counts().dropped).toMatchObject({ fault: 0, queueFull: 0 });
    core.use(null);
    port(1).arriving.push(frame(2));
    settle();
    expect(core.counts().dropped.noPipeline).toBe(1);
  });

  it('keeps its program if the next one has errors', () => {
    const { core, port, settle } = switchOf(programOf(TO_A));
    const { machine } = core;
    expect(() => core.load('control C() { apply { nothing(); } }')).toThrow(P4Error);
    expect(core.machine).toBe(machine);
    port(1).arriving.push(frame(2));
    settle();
    expect(port(2).sent).toHaveLength(1);
  });

  it('hands over digests', () => {
    const { core, port, settle } = switchOf(programOf(`digest<bit<8>>(1, hdr.h.b); ${TO_A}`));
    const seen: unknown[] = [];
    core.onDigest = ({ fields }) => seen.push(fields.map(({ value }) => value));
    port(1).arriving.push(frame(2, 77));
    settle();
    expect(seen).toEqual([[77]]);
    expect(core.counts().digests).toBe(1);
  });

  it('refuses wrong ports and options', async () => {
    const { core, port } = switchOf(null, { cpuPort: 500 });
    for (const number of [1, 500, 511, -1, 1.5]) {
      expect(() => core.addPort(number, new TestPort())).toThrow(PortError);
    }
    expect(() => new SoftSwitch({ queuePackets: 0 })).toThrow(RangeError);
    expect(() => new SoftSwitch({ cpuPort: 512 })).toThrow(RangeError);
    await core.close();
    expect(port(1).isClosed).toBe(true);
  });

  it('sends what waits before it closes', async () => {
    const { core, port, settle } = switchOf(programOf(TO_A));
    port(2).capacity = 0;
    port(1).arriving.push(frame(2), frame(2));
    settle();
    port(2).capacity = 10;
    await core.close();
    expect(port(2).sent).toHaveLength(2);
  });
});
