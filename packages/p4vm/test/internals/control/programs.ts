import { Memory } from '../../../src/budget/memory.js';
import { CommandInterpreter } from '../../../src/control/command-interpreter.js';
import { ControlPlane } from '../../../src/control/control-plane.js';
import type { Action, DataType, Expression, IrProgram, Statement } from '../../../src/ir/program.js';
import { Replication } from '../../../src/switch/replication.js';
import { createProgramState, type ProgramState } from '../../../src/tables/program-state.js';
import {
  action,
  bits,
  call,
  constEntry,
  drop,
  environment,
  exact,
  extern,
  forward,
  hashAlgorithm,
  integer,
  key,
  type MutableEnvironment,
  member,
  noAction,
  nowhere,
  program,
  rewrite,
  table,
  valueSet,
} from '../tables/declarations.js';

const span = nowhere;

function variable(name: string, type: DataType): Expression {
  return { kind: 'variable', type, variable: { id: 0, name, type }, span };
}

/** `hash(x, HashAlgorithm.<algorithm>, ...)`, or a checksum call with the algorithm as its last argument. */
export function hashCall(name: string, algorithm: string): Statement {
  const type = hashAlgorithm();
  const position = type.kind === 'enum' ? type.members.indexOf(algorithm) : 0;
  const chosen: Expression = { kind: 'constant', type, value: BigInt(position), span };
  const other = variable('x', bits(16));
  const inputs = name === 'hash' ? [other, chosen, other, other, other] : [other, other, other, chosen];
  return {
    kind: 'evaluate',
    span,
    expression: {
      kind: 'call-extern',
      type: { kind: 'void' },
      name,
      typeArguments: [],
      arguments: inputs.map((value) => ({ direction: 'in', value })),
      span,
    },
  };
}

export function block(...statements: readonly Statement[]): IrProgram['ingress']['body'] {
  return { kind: 'block', statements, span };
}

const digestType: DataType = {
  kind: 'struct',
  name: 'learn_t',
  id: 'learn_t',
  fields: [
    { name: 'mac', type: bits(48), annotations: new Map() },
    { name: 'port', type: bits(9), annotations: new Map() },
  ],
};

const learn: Statement = {
  kind: 'evaluate',
  span,
  expression: {
    kind: 'call-extern',
    type: { kind: 'void' },
    name: 'digest',
    typeArguments: [digestType],
    arguments: [
      { direction: 'in', value: variable('r', bits(32)) },
      { direction: 'in', value: variable('d', digestType) },
    ],
    span,
  },
};

export const hashing: Action = {
  ...action(4, 'MyIngress.hashing'),
  body: block(hashCall('hash', 'crc16_custom')),
};

/** A program with one of everything that the control plane can reach. */
export function fullProgram(): IrProgram {
  const enumerated = (of: string, name: string): ReturnType<typeof member> => member(of, name);
  const externs = [
    extern(0, 'counter', 'MyIngress.packets', [integer(4), enumerated('CounterType', 'packets_and_bytes')]),
    extern(1, 'direct_counter', 'MyIngress.hits', [enumerated('CounterType', 'packets')]),
    extern(2, 'meter', 'MyIngress.rate', [integer(4), enumerated('MeterType', 'bytes')]),
    extern(3, 'direct_meter', 'MyIngress.entry_rate', [enumerated('MeterType', 'packets')]),
    extern(4, 'register', 'MyIngress.state', [integer(3)], [bits(48)]),
    extern(5, 'register', 'MyEgress.state', [integer(2)], [bits(8)]),
    extern(6, 'action_selector', 'MyIngress.sel', [enumerated('HashAlgorithm', 'crc16'), integer(8), integer(14)]),
    extern(7, 'action_profile', 'MyIngress.prof', [integer(8)]),
  ];
  const tables = [
    table({ id: 0, name: 'MyIngress.l2', keys: [key('hdr.eth.dst', bits(48), 'exact')], counter: externs[1], size: 2 }),
    table({ id: 1, name: 'MyIngress.ipv4_lpm', keys: [key('hdr.ipv4.dst', bits(32), 'lpm')], meter: externs[3] }),
    table({
      id: 2,
      name: 'MyIngress.acl',
      keys: [
        key('hdr.ipv4.src', bits(32), 'ternary'),
        key('meta.port', bits(9), 'optional'),
        key('hdr.ipv6.dst', bits(128), 'lpm'),
      ],
      isDefaultConst: true,
    }),
    table({ id: 3, name: 'MyIngress.ports', keys: [key('meta.l4', bits(16), 'range')], supportsTimeout: true }),
    table({
      id: 4,
      name: 'MyIngress.fixed',
      keys: [key('meta.c', bits(8), 'exact')],
      entries: [constEntry([exact(1)], call(2), 1)],
      areEntriesConst: true,
    }),
    table({
      id: 5,
      name: 'MyIngress.ecmp',
      keys: [key('hdr.ipv4.dst', bits(32), 'exact'), key('hdr.ipv4.src', bits(32), 'selector')],
      actions: [forward, drop],
      implementation: externs[6],
      defaultAction: undefined,
    }),
    table({
      id: 6,
      name: 'MyIngress.indirect',
      keys: [key('hdr.ipv4.dst', bits(32), 'lpm')],
      actions: [forward, drop],
      implementation: externs[7],
      defaultAction: undefined,
    }),
    table({ id: 7, name: 'MyEgress.l2', keys: [key('hdr.eth.$valid$', { kind: 'bool' }, 'exact')] }),
    table({ id: 8, name: 'MyEgress.keyless', actions: [noAction, hashing] }),
  ];
  const base = program();
  return program({
    externs,
    tables,
    actions: [noAction, forward, drop, rewrite, hashing],
    valueSets: [
      valueSet(0, 'MyParser.types', 4, key('type', bits(16), 'exact')),
      valueSet(1, 'MyParser.pairs', 4, key('a', bits(4), 'exact'), key('b', bits(8), 'exact')),
    ],
    ingress: { ...base.ingress, body: block(hashCall('hash', 'crc32_custom'), learn) },
    egress: { ...base.egress, actions: [hashing] },
    computeChecksum: { ...base.computeChecksum, body: block(hashCall('update_checksum', 'csum16')) },
    verifyChecksum: { ...base.verifyChecksum, body: block(hashCall('verify_checksum', 'crc16_custom')) },
    enums: [{ name: 'CounterType', members: ['packets', 'bytes', 'packets_and_bytes'] }],
    errors: ['NoError', 'PacketTooShort'],
  });
}

export interface Bench {
  readonly clock: MutableEnvironment;
  readonly state: ProgramState;
  readonly replication: Replication;
  /** The settings of queues that the commands have made. */
  readonly queues: (readonly [string, number, number | undefined, number | undefined])[];
  readonly control: ControlPlane;
  readonly commands: CommandInterpreter;
}

/** @param bytes memory for entries, members and groups */
export function bench(of: IrProgram = fullProgram(), bytes = Number.POSITIVE_INFINITY): Bench {
  const clock = environment();
  const state = createProgramState(of, clock, undefined, new Memory(bytes));
  const queues: Bench['queues'] = [];
  const replication = new Replication({
    setQueueDepth: (packets, port, priority) => void queues.push(['depth', packets, port, priority]),
    setQueueRate: (rate, port, priority) => void queues.push(['rate', rate, port, priority]),
  });
  const control = new ControlPlane(of, state, replication);
  return { clock, state, replication, queues, control, commands: new CommandInterpreter(control) };
}
