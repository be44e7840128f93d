import type { MatchInput, p4config, ValueSetEntry } from '@int/p4runtime';
import { parseInteger } from '@int/p4vm/internals';
import { count, fail } from './command-failure.js';
import type { ControlSession } from './control-session.js';
import type { Command } from './table-commands.js';
import { nameOf } from './table-texts.js';

async function setOf(session: ControlSession, name: string | undefined): Promise<p4config.ValueSet> {
  return (await session.index()).named('valueSet', name ?? fail('the name of a value set is needed'));
}

const widthOf = ({ match }: p4config.ValueSet): number => match.reduce((sum, { bitwidth }) => sum + bitwidth, 0);

/** One number for all fields; the first field has the highest bits. */
function memberOf(set: p4config.ValueSet, text: string): Record<string, MatchInput> {
  let below = widthOf(set);
  const value = parseInteger(text);
  if (value === undefined || value < 0n || value >> BigInt(below) !== 0n) fail(`${text} is no number of ${below} bits`);
  return Object.fromEntries(
    set.match.map(({ name, bitwidth }) => {
      below -= bitwidth;
      return [name, (value >> BigInt(below)) & ((1n << BigInt(bitwidth)) - 1n)];
    }),
  );
}

async function membersOf(session: ControlSession, set: p4config.ValueSet): Promise<ValueSetEntry> {
  for await (const found of session.client.read({ kind: 'value-set', valueSet: nameOf(set), members: [] })) {
    if (found.kind === 'value-set') return found;
  }
  return { kind: 'value-set', valueSet: nameOf(set), members: [] };
}

/** A member as one number; undefined if it is more than one value. */
function numberOf(set: p4config.ValueSet, member: Readonly<Record<string, MatchInput>>): bigint | undefined {
  let number = 0n;
  for (const { name, bitwidth } of set.match) {
    const match = member[name];
    if (typeof match !== 'object' || !('kind' in match)) return undefined;
    const isWhole = match.kind !== 'ternary' || match.mask === (1n << BigInt(bitwidth)) - 1n;
    const value = match.kind === 'range' ? (match.low === match.high ? match.low : undefined) : match.value;
    if (typeof value !== 'bigint' || !isWhole) return undefined;
    number = (number << BigInt(bitwidth)) | value;
  }
  return number;
}

export const VALUE_SET_COMMANDS: Readonly<Record<string, Command>> = {
  pvs_add: async (session, words) => {
    count(words, 2);
    const set = await setOf(session, words[0]);
    const before = await membersOf(session, set);
    await session.client.modify({ ...before, members: [...before.members, memberOf(set, words[1]!)] });
  },
  pvs_remove: async (session, words) => {
    count(words, 2);
    const set = await setOf(session, words[0]);
    const before = await membersOf(session, set);
    const wanted = parseInteger(words[1]!);
    const members = before.members.filter((member) => numberOf(set, member) !== wanted);
    if (members.length === before.members.length) fail(`${words[0]} has no member ${words[1]}`);
    await session.client.modify({ ...before, members });
  },
  pvs_clear: async (session, words) => {
    count(words, 1);
    const set = await setOf(session, words[0]);
    await session.client.modify({ kind: 'value-set', valueSet: nameOf(set), members: [] });
  },
  pvs_get: async (session, words) => {
    count(words, 1);
    const set = await setOf(session, words[0]);
    const digits = 2 * Math.ceil(widthOf(set) / 8);
    for (const member of (await membersOf(session, set)).members) {
      const number = numberOf(set, member);
      await session.print(
        number === undefined
          ? JSON.stringify(member, (_, each) => (typeof each === 'bigint' ? `${each}` : each))
          : number.toString(16).padStart(digits, '0'),
      );
    }
  },
  show_pvs: async (session, words) => {
    count(words, 0);
    const sets = (await session.index()).all('valueSet');
    await session.lines(...sets.map((set) => `${nameOf(set).padEnd(30)} [compressed bitwidth:${widthOf(set)}]`).sort());
  },
};
