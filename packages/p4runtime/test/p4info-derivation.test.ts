import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { equals, fromBinary, fromJson, toBinary, toJson } from '@bufbuild/protobuf';
import { formatText, p4config, p4infoOf, parseText } from '@int/p4runtime';
import { describeProgram, type IrProgram, type ProgramDescription } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../.ci/test/length.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const programsIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.p4'))
    .map((name) => join(root, folder, name));
const ours = programsIn('p4');
const tests = programsIn('packages/p4vm/test/programs');

/** The hash of the ids, in whole numbers without bit operations. */
function hash24(name: string): bigint {
  const cut = (value: bigint): bigint => value % 2n ** 32n;
  let hash = 0n;
  for (const byte of Buffer.from(name)) {
    hash = cut(hash + BigInt(byte));
    hash = cut(hash * 1025n);
    hash ^= hash / 64n;
  }
  hash = cut(hash * 9n);
  hash ^= hash / 2048n;
  return cut(hash * 32_769n) % 2n ** 24n;
}

interface Derived {
  /** Kind, id, name, alias, and what is known of the object. */
  readonly objects: readonly string[];
}

const MATCHES: Readonly<Record<string, number>> = { exact: 2, lpm: 3, ternary: 4, range: 5, optional: 6 };

/**
 * What P4Info has to say of a program, from the description that `int p4 info` prints. `called`: actions that controls call,
 * which have a part in the aliases.
 */
function derive(
  description: ProgramDescription,
  controllerHeaders: readonly string[],
  called: readonly string[],
): Derived {
  const { tables, counters, meters, registers, actionProfiles, valueSets, digests } = description;
  const actions = description.actions.filter(({ name }) =>
    tables.some((table) => table.actions.some((each) => each.name === name)),
  );
  const isDirect = ({ table }: { table: string | null }): boolean => table !== null;
  const kinds: readonly (readonly [prefix: number, kind: string, names: readonly string[]])[] = [
    [1, 'action', [...new Set(actions.map(({ name }) => name))]],
    [2, 'table', tables.map(({ name }) => name)],
    [3, 'value set', valueSets.map(({ name }) => name)],
    [4, 'controller header', controllerHeaders],
    [0x11, 'profile', actionProfiles.map(({ name }) => name)],
    [0x12, 'counter', counters.filter(({ size }) => size !== null).map(({ name }) => name)],
    [0x13, 'direct counter', counters.filter(isDirect).map(({ name }) => name)],
    [0x14, 'meter', meters.filter(({ size }) => size !== null).map(({ name }) => name)],
    [0x15, 'direct meter', meters.filter(isDirect).map(({ name }) => name)],
    [0x16, 'register', registers.map(({ name }) => name)],
    [0x17, 'digest', digests.map(({ name }) => name)],
  ];
  const ids = new Map<string, number>();
  for (const [prefix, kind, names] of kinds) {
    const taken = new Set<bigint>();
    for (const name of [...names].sort()) {
      let id = hash24(name);
      while (taken.has(id)) id = (id + 1n) % 2n ** 24n;
      taken.add(id);
      ids.set(`${kind} ${name}`, prefix * 2 ** 24 + Number(id));
    }
  }
  const facts = (kind: string, name: string): unknown => {
    if (kind === 'table') {
      const table = tables.find((each) => each.name === name)!;
      return {
        keys: table.keys.filter(({ match }) => match !== 'selector').map((key) => [key.name, MATCHES[key.match]]),
        widths: table.keys.filter(({ match }) => match !== 'selector').map(keyWidth),
        actions: table.actions.map((each) => [
          ids.get(`action ${each.name}`),
          each.tableOnly ? 1 : each.defaultOnly ? 2 : 0,
        ]),
        default: table.defaultAction && ids.get(`action ${table.defaultAction.name}`),
        data: table.defaultAction?.data ?? [],
        isConst: table.constEntries,
        entries: table.entries > 0,
        profile: table.actionProfile === null ? 0 : ids.get(`profile ${table.actionProfile}`),
      };
    }
    if (kind === 'action') {
      const action = actions.find((each) => each.name === name)!;
      return action.parameters.map((parameter, at) => [at + 1, parameter.name, keyWidth(parameter)]);
    }
    if (kind === 'profile') {
      const profile = actionProfiles.find((each) => each.name === name)!;
      return [profile.size, profile.selector !== null, profile.tables.map((table) => ids.get(`table ${table}`))];
    }
    return [...counters, ...meters, ...registers].find((each) => each.name === name)?.size ?? null;
  };
  // The control plane gives no width for enums without values and errors.
  const keyWidth = ({ width, kind }: { width: number; kind: string }): number =>
    kind === 'enum' || kind === 'error' ? 0 : width;
  const all = kinds.flatMap(([, kind, names]) => names.map((name) => [kind, name] as const));
  const names = new Set([...called, ...all.map(([, name]) => name)]);
  const alias = (name: string): string => {
    const parts = name.split('.');
    for (let count = 1; count < parts.length; count++) {
      const suffix = parts.slice(-count).join('.');
      if ([...names].filter((each) => `.${each}`.endsWith(`.${suffix}`)).length === 1) return suffix;
    }
    return name;
  };
  return {
    objects: all
      .map(([kind, name]) => {
        const id = ids.get(`${kind} ${name}`);
        return kind === 'controller header'
          ? `${kind} ${id}`
          : `${kind} ${id} ${name} ${alias(name)} ${JSON.stringify(facts(kind, name))}`;
      })
      .sort(),
  };
}

const number = (bytes: Uint8Array): string => BigInt(`0x0${Buffer.from(bytes).toString('hex')}`).toString();

/** The same of a P4Info. Actions that no table has are left out: the description does not say who calls them. */
function read(info: p4config.P4Info): Derived {
  const inTables = new Set(info.tables.flatMap((table) => table.actionRefs.map(({ id }) => id)));
  const line = (kind: string, { preamble }: { preamble?: p4config.Preamble | undefined }, facts: unknown): string =>
    `${kind} ${preamble?.id} ${preamble?.name} ${preamble?.alias} ${JSON.stringify(facts)}`;
  return {
    objects: [
      ...info.tables.map((table) =>
        line('table', table, {
          keys: table.matchFields.map(({ name, match }) => [name, match.value]),
          widths: table.matchFields.map(({ bitwidth }) => bitwidth),
          actions: table.actionRefs.map(({ id, scope }) => [id, scope]),
          default: table.initialDefaultAction?.actionId ?? null,
          data: table.initialDefaultAction?.arguments.map(({ value }) => number(value)) ?? [],
          isConst: table.isConstTable,
          entries: table.hasInitialEntries,
          profile: table.implementationId,
        }),
      ),
      ...info.actions
        .filter(({ preamble }) => inTables.has(preamble!.id))
        .map((action) =>
          line(
            'action',
            action,
            action.params.map(({ id, name, bitwidth }) => [id, name, bitwidth]),
          ),
        ),
      ...info.actionProfiles.map((each) =>
        line('profile', each, [Number(each.size), each.withSelector, each.tableIds]),
      ),
      ...info.counters.map((each) => line('counter', each, Number(each.size))),
      ...info.directCounters.map((each) => line('direct counter', each, null)),
      ...info.meters.map((each) => line('meter', each, Number(each.size))),
      ...info.directMeters.map((each) => line('direct meter', each, null)),
      ...info.registers.map((each) => line('register', each, each.size)),
      ...info.digests.map((each) => line('digest', each, null)),
      ...info.valueSets.map((each) => line('value set', each, null)),
      ...info.controllerPacketMetadata.map(({ preamble }) => `controller header ${preamble?.id}`),
    ].sort(),
  };
}

/**
 * Programs whose ids or widths the description knows: without `@hidden`, translated types and `@id`. Our programs have an
 * `@id` of everything, which is the id that its name gives.
 */
function isPlain(program: IrProgram, path: string): boolean {
  const { annotations, declared } = program.surface;
  const given = [...annotations.values(), ...[...declared.values()].map((each) => each.annotations)].flat();
  const others = ['hidden', 'p4runtime_translation', ...(ours.includes(path) ? [] : ['id'])];
  return !given.some(({ name }) => others.includes(name));
}

describe('P4Info', () => {
  it('of all test programs, and of ours, is what a second derivation says', () => {
    expect(ours.length).toBeGreaterThanOrEqual(5);
    expect(tests.length).toBeGreaterThanOrEqual(100);
    let compared = 0;
    // Every second one, which are more than 100; all in the long form.
    const chosen = tests.filter((_, at) => LENGTH > 1 || at % 2 === 0);
    for (const path of [...ours, ...chosen]) {
      const program = loadProgram(path);
      const info = p4infoOf(program);
      expect(p4infoOf(program), path).toEqual(info);
      if (!isPlain(program, path)) continue;
      compared++;
      const mine = read(info);
      const called = info.actions.map(({ preamble }) => preamble!.name);
      expect(mine, path).toEqual(derive(describeProgram(program), program.surface.controllerHeaders, called));
    }
    expect(compared).toBeGreaterThanOrEqual(100);
    // It compiles up to 320 programs.
  }, 180_000);

  it('of our programs survives binary, JSON and text', () => {
    const schema = p4config.P4InfoSchema;
    for (const path of ours) {
      const info = p4infoOf(loadProgram(path));
      for (const again of [
        fromBinary(schema, toBinary(schema, info)),
        fromJson(schema, toJson(schema, info)),
        parseText(schema, formatText(schema, info)),
      ]) {
        expect(equals(schema, again, info), path).toBe(true);
      }
    }
  }, 60_000);

  it('of our programs has an @id for each object, and words about each table', () => {
    for (const path of ours) {
      const program = loadProgram(path);
      const info = p4infoOf(program);
      const { annotations } = program.surface;
      const named = [...program.tables, ...program.externs.filter(({ type }) => type !== 'Checksum16')];
      for (const each of named) {
        const given = annotations.get(each)?.find(({ name }) => name === 'id');
        expect(given, `${path}: ${each.name}`).toBeDefined();
      }
      for (const { preamble } of info.tables) expect(preamble?.doc?.brief, preamble?.name).toBeTruthy();
      expect(info.pkgInfo?.name).toMatch(/\.p4$/);
    }
  }, 60_000);
});
