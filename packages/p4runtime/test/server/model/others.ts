/** Updates of counters, meters, registers, value sets, digests, multicast groups and clone sessions, and of nothing at all. */
import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { p4v1 } from '@int/p4runtime';
import { DELETE, entity, INFO, INSERT, MODIFY, UNSPECIFIED } from '../everything.js';
import { bytesOf, type Numbers, signedBytesOf } from './numbers.js';
import { faultsOf, type Made, type State } from './state.js';
import { canonicalMatches, countOf, matchOf, meterOf, readCount, shortest, wrongMatch } from './values.js';

type Kind = Parameters<typeof entity>[0];

function updateOf(type: p4v1.Update_Type, kind: Kind, value: object): p4v1.Update {
  return create(p4v1.UpdateSchema, { type, entity: entity(kind, value as never) });
}

const modifies = (numbers: Numbers): p4v1.Update_Type =>
  numbers.chance(12) ? numbers.pick([INSERT, DELETE, UNSPECIFIED]) : MODIFY;

interface Place {
  readonly index: { readonly index: bigint } | undefined;
  readonly faults: readonly number[];
  /** The cells that it means. */
  readonly cells: readonly number[];
}

function placeOf(numbers: Numbers, size: number): Place {
  if (numbers.chance(16)) return { index: undefined, faults: [], cells: Array.from({ length: size }, (_, i) => i) };
  if (numbers.chance(16)) return { index: { index: -1n }, faults: [Code.InvalidArgument], cells: [] };
  if (numbers.chance(16)) return { index: { index: BigInt(size) }, faults: [Code.OutOfRange], cells: [] };
  const at = numbers.below(size);
  return { index: { index: BigInt(at) }, faults: [], cells: [at] };
}

export function makeCounter(numbers: Numbers): Made {
  const { preamble, size } = numbers.pick(INFO.counters);
  const counterId = preamble!.id;
  const { index, faults, cells } = placeOf(numbers, Number(size));
  const data = numbers.chance(8) ? undefined : countOf(numbers);
  const type = modifies(numbers);
  return {
    kind: 'counter',
    update: updateOf(type, 'counterEntry', { counterId, index, data: data?.data }),
    object: counterId,
    faults: () => [...faults, ...faultsOf([type !== MODIFY || data?.isValid === false, Code.InvalidArgument])],
    commit(state) {
      if (data === undefined) return;
      for (const cell of cells) state.set(state.counters, `${counterId} ${cell}`, readCount(data.data));
    },
  };
}

export function makeMeter(numbers: Numbers): Made {
  const { preamble, size } = numbers.pick(INFO.meters);
  const meterId = preamble!.id;
  const { index, faults, cells } = placeOf(numbers, Number(size));
  const config = numbers.chance(4) ? undefined : meterOf(numbers);
  const asksColours = numbers.chance(24);
  const type = modifies(numbers);
  const value = { meterId, index, config: config?.config, ...(asksColours && { counterData: {} }) };
  return {
    kind: 'meter',
    update: updateOf(type, 'meterEntry', value),
    object: meterId,
    faults: () => [
      ...faults,
      ...faultsOf(
        [type !== MODIFY || config?.isValid === false, Code.InvalidArgument],
        [asksColours, Code.Unimplemented],
      ),
    ],
    commit(state) {
      for (const cell of cells) state.set(state.meters, `${meterId} ${cell}`, config?.config);
    },
  };
}

/** The types of the registers of the program, as it declares them. */
const REGISTERS: Readonly<Record<string, 'bit<48>' | 'int<16>' | 'bool'>> = {
  'I.cells': 'bit<48>',
  'I.signed_cells': 'int<16>',
  'I.flags': 'bool',
};

/** Data of a register, with the faults of them. */
function dataOf(
  numbers: Numbers,
  name: string,
): { readonly data: object | undefined; readonly value: bigint; readonly faults: number[] } {
  const type = REGISTERS[name]!;
  const bits = (value: Uint8Array): object => ({ data: { case: 'bitstring', value } });
  if (numbers.chance(16)) return { data: undefined, value: 0n, faults: [Code.InvalidArgument] };
  if (numbers.chance(16)) {
    const data = type === 'bool' ? bits(bytesOf(1n)) : { data: { case: 'bool', value: true } };
    return { data, value: 0n, faults: [Code.InvalidArgument] };
  }
  if (type === 'bool') {
    const value = numbers.below(2);
    return { data: { data: { case: 'bool', value: value === 1 } }, value: BigInt(value), faults: [] };
  }
  if (numbers.chance(16)) {
    const tooWide = type === 'bit<48>' ? bytesOf(1n << 48n) : signedBytesOf(numbers.chance(2) ? 0x8000n : -0x8001n);
    return { data: bits(numbers.chance(2) ? tooWide : new Uint8Array(0)), value: 0n, faults: [Code.OutOfRange] };
  }
  if (type === 'bit<48>') {
    const value = numbers.bits(48);
    return { data: bits(numbers.bytes(value)), value, faults: [] };
  }
  const value = BigInt(numbers.below(0x1_0000)) - 0x8000n;
  return { data: bits(signedBytesOf(value)), value, faults: [] };
}

/** A cell as it is read. */
export function registerData(name: string, value: bigint): p4v1.P4Data {
  const type = REGISTERS[name]!;
  const data =
    type === 'bool'
      ? { case: 'bool', value: value !== 0n }
      : { case: 'bitstring', value: type === 'int<16>' ? signedBytesOf(value) : bytesOf(value) };
  return create(p4v1.P4DataSchema, { data } as never);
}

export function makeRegister(numbers: Numbers): Made {
  const { preamble, size } = numbers.pick(INFO.registers);
  const { id: registerId, name } = preamble!;
  const place = placeOf(numbers, size);
  const { data, value, faults } = dataOf(numbers, name);
  const type = modifies(numbers);
  return {
    kind: 'register',
    update: updateOf(type, 'registerEntry', { registerId, index: place.index, data }),
    object: registerId,
    faults: () => [...place.faults, ...faults, ...faultsOf([type !== MODIFY, Code.InvalidArgument])],
    commit(state) {
      for (const cell of place.cells) state.set(state.registers, `${registerId} ${cell}`, value);
    },
  };
}

export function makeValueSet(numbers: Numbers): Made {
  const { preamble, size, match } = numbers.pick(INFO.valueSets);
  const valueSetId = preamble!.id;
  const type = modifies(numbers);
  const isWrong = numbers.chance(16);
  const members = Array.from({ length: numbers.below(size + 2) }, () => ({
    match: match.flatMap((field) => (isWrong ? wrongMatch(numbers, field) : (matchOf(numbers, field) ?? []))),
  }));
  const faults = faultsOf(
    [type !== MODIFY || (isWrong && members.length > 0), Code.InvalidArgument],
    [members.length > size, Code.ResourceExhausted],
  );
  if (!isWrong) {
    const texts = members.map((each) =>
      Buffer.from(shortest((each.match[0]!.fieldMatchType.value as { value: Uint8Array }).value)).toString('hex'),
    );
    faults.push(...faultsOf([new Set(texts).size < texts.length, Code.AlreadyExists]));
  }
  return {
    kind: 'value set',
    update: updateOf(type, 'valueSetEntry', { valueSetId, members }),
    object: valueSetId,
    faults: () => faults,
    commit(state) {
      const canonical = members.map((each) => ({ match: canonicalMatches(match, each.match) }));
      state.set(state.valueSets, valueSetId, create(p4v1.ValueSetEntrySchema, { valueSetId, members: canonical }));
    },
  };
}

const lives = (numbers: Numbers): p4v1.Update_Type =>
  numbers.chance(16) ? UNSPECIFIED : numbers.pick([INSERT, MODIFY, DELETE]);

/** Faults of an object that is inserted, modified or deleted. */
function lifeFaults(type: p4v1.Update_Type, exists: boolean): number[] {
  return faultsOf(
    [type === UNSPECIFIED, Code.InvalidArgument],
    [type === INSERT && exists, Code.AlreadyExists],
    [(type === MODIFY || type === DELETE) && !exists, Code.NotFound],
  );
}

export function makeDigest(numbers: Numbers): Made {
  const digestId = numbers.pick(INFO.digests).preamble!.id;
  const type = lives(numbers);
  const isNegative = numbers.chance(8);
  const config = {
    maxTimeoutNs: BigInt(numbers.below(1000)),
    maxListSize: isNegative ? -1 : numbers.below(3000),
    ackTimeoutNs: BigInt(numbers.below(1000)),
  };
  return {
    kind: 'digest',
    update: updateOf(type, 'digestEntry', { digestId, config }),
    object: digestId,
    faults: (state) => [
      ...lifeFaults(type, state.digests.has(digestId)),
      ...faultsOf([isNegative && type !== DELETE, Code.InvalidArgument]),
    ],
    commit(state) {
      state.set(
        state.digests,
        digestId,
        type === DELETE ? undefined : create(p4v1.DigestEntrySchema, { digestId, config }),
      );
    },
  };
}

interface MadeReplicas {
  readonly replicas: object[];
  readonly canonical: object[];
  readonly faults: readonly number[];
}

function replicasOf(numbers: Numbers): MadeReplicas {
  const faults: number[] = [];
  const seen = new Set<string>();
  const canonical: object[] = [];
  const replicas = Array.from({ length: numbers.below(5) }, () => {
    const port = BigInt(numbers.chance(32) ? 512 + numbers.below(8) : numbers.below(10));
    const instance = numbers.chance(48) ? 0x1_0000 : numbers.below(3);
    const way = numbers.below(24);
    const portKind =
      way === 0
        ? { case: undefined }
        : way < 4
          ? { case: 'egressPort', value: Number(port) }
          : { case: 'port', value: way === 4 ? new Uint8Array(0) : numbers.bytes(port) };
    if (port > 511n || instance > 0xffff || way === 0 || way === 4) faults.push(Code.InvalidArgument);
    const text = `${port} ${instance}`;
    if (seen.has(text) && way !== 0 && way !== 4) faults.push(Code.InvalidArgument);
    seen.add(text);
    const isBackedUp = numbers.chance(48);
    if (isBackedUp) faults.push(Code.Unimplemented);
    canonical.push({
      portKind: portKind.case === 'port' ? { case: 'port', value: bytesOf(port) } : portKind,
      instance,
    });
    return { portKind, instance, ...(isBackedUp && { backupReplicas: [{ port: bytesOf(1n), instance: 1 }] }) };
  });
  return { replicas, canonical, faults };
}

export function makeMulticast(numbers: Numbers): Made {
  const id = numbers.chance(24) ? 0 : numbers.chance(24) ? 0x1_0000 : numbers.pick([1, 2, 3, 0xffff]);
  const type = lives(numbers);
  const { replicas, canonical, faults } = replicasOf(numbers);
  const metadata = numbers.opaque(8);
  const message = (each: object[]): p4v1.MulticastGroupEntry =>
    create(p4v1.MulticastGroupEntrySchema, { multicastGroupId: id, replicas: each, metadata } as never);
  return {
    kind: 'multicast group',
    update: updateOf(type, 'packetReplicationEngineEntry', {
      type: { case: 'multicastGroupEntry', value: message(replicas) },
    }),
    object: 0,
    faults: (state) => [
      ...faultsOf([id === 0, Code.InvalidArgument], [id > 0xffff, Code.OutOfRange]),
      ...lifeFaults(type, state.multicast.has(id)),
      ...(type === DELETE ? [] : faults),
    ],
    commit: (state) => state.set(state.multicast, id, type === DELETE ? undefined : message(canonical)),
  };
}

export function makeSession(numbers: Numbers): Made {
  const id = numbers.chance(24) ? 0 : numbers.chance(24) ? 0x8000 : numbers.pick([1, 2, 3, 0x7fff]);
  const type = lives(numbers);
  const { replicas, canonical, faults } = replicasOf(numbers);
  const classOfService = numbers.chance(24) ? 8 : numbers.below(8);
  const packetLengthBytes = numbers.chance(24) ? -1 : numbers.below(2000);
  const message = (each: object[]): p4v1.CloneSessionEntry =>
    create(p4v1.CloneSessionEntrySchema, { sessionId: id, replicas: each, classOfService, packetLengthBytes } as never);
  const own = faultsOf([classOfService > 7 || packetLengthBytes < 0, Code.InvalidArgument]);
  return {
    kind: 'clone session',
    update: updateOf(type, 'packetReplicationEngineEntry', {
      type: { case: 'cloneSessionEntry', value: message(replicas) },
    }),
    object: 0,
    faults: (state) => [
      ...faultsOf([id === 0 || id > 0x7fff, Code.InvalidArgument]),
      ...lifeFaults(type, state.sessions.has(id)),
      ...(type === DELETE ? [] : [...own, ...faults]),
    ],
    commit: (state) => state.set(state.sessions, id, type === DELETE ? undefined : message(canonical)),
  };
}

/** What no switch can do: entities that are not set, of unknown ids, and extern objects. */
export function makeNonsense(numbers: Numbers): Made {
  const type = numbers.pick([INSERT, MODIFY, DELETE]);
  const { InvalidArgument, NotFound, Unimplemented } = Code;
  const unknown = (kind: Kind, value: object): [Kind, object, readonly number[]] => [
    kind,
    value,
    [InvalidArgument, NotFound],
  ];
  const [kind, value, codes] = numbers.pick<[Kind, object, readonly number[]]>([
    unknown('tableEntry', { tableId: 0x0200_0001 }),
    unknown('tableEntry', { tableId: 0 }),
    unknown('actionProfileMember', { actionProfileId: 0x1100_0001, memberId: 1 }),
    unknown('actionProfileGroup', { actionProfileId: 0, groupId: 1 }),
    unknown('counterEntry', { counterId: 0x1200_0001 }),
    unknown('meterEntry', { meterId: 1 }),
    unknown('registerEntry', { registerId: 0 }),
    unknown('valueSetEntry', { valueSetId: 7 }),
    unknown('digestEntry', { digestId: 7 }),
    ['packetReplicationEngineEntry', {}, [InvalidArgument]],
    ['externEntry', { externTypeId: 0x81 }, [Unimplemented, InvalidArgument]],
  ]);
  const isEmpty = numbers.chance(8);
  return {
    kind: 'nonsense',
    update: isEmpty ? create(p4v1.UpdateSchema, { type }) : updateOf(type, kind, value),
    object: -1,
    faults: () => (isEmpty ? [InvalidArgument] : codes),
    commit(_: State) {},
  };
}
