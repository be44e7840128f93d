import type { CounterValue, Data, MeterRates, TableEntry } from '@int/p4runtime';
import { count, fail, whole } from './command-failure.js';
import type { ControlSession } from './control-session.js';
import type { Command } from './table-commands.js';
import { nameOf } from './table-texts.js';

/** Most cells that one command shows. */
const MOST_SHOWN = 1 << 18;

/** The counter or meter of a name: an array, or that of the entries of a table. */
async function arrayOf(
  session: ControlSession,
  kind: 'counter' | 'meter',
  name = '',
): Promise<{ readonly name: string; readonly size: number } | { readonly table: string }> {
  const index = await session.index();
  const direct = index
    .all(kind === 'counter' ? 'directCounter' : 'directMeter')
    .find(({ preamble }) => preamble?.name === name || preamble?.alias === name);
  if (direct !== undefined) return { table: index.nameOf('table', direct.directTableId) };
  const array = index.named(kind, name);
  return { name: nameOf(array), size: Number(array.size) };
}

async function entryOfTable(session: ControlSession, table: string, handle: number): Promise<TableEntry> {
  const { match, priority, table: name } = await session.entry(table, handle);
  return { kind: 'table-entry', table: name, match, ...(priority !== undefined && { priority }) };
}

async function readCounter(session: ControlSession, name: string | undefined, at: number): Promise<CounterValue> {
  const array = await arrayOf(session, 'counter', name);
  const question =
    'table' in array
      ? ({ kind: 'direct-counter', entry: await entryOfTable(session, array.table, at) } as const)
      : ({ kind: 'counter', counter: array.name, index: at } as const);
  for await (const found of session.client.read(question)) {
    if ((found.kind === 'counter' || found.kind === 'direct-counter') && found.value !== undefined) return found.value;
  }
  return fail(`the switch has no value of ${name}[${at}]`);
}

async function writeCounter(session: ControlSession, name: string, at: number, value: CounterValue): Promise<void> {
  const array = await arrayOf(session, 'counter', name);
  await session.client.modify(
    'table' in array
      ? { kind: 'direct-counter', entry: await entryOfTable(session, array.table, at), value }
      : { kind: 'counter', counter: array.name, index: at, value },
  );
}

/** `RATE:BURST` twice. The command line counts rates a microsecond, P4Runtime a second. */
function ratesOf(words: readonly string[]): MeterRates {
  if (words.length !== 2) fail(`two rates are needed, not ${words.length}`);
  const [committed, peak] = words.map((word) => {
    const [, rate, burst] =
      /^(\d+(?:\.\d+)?(?:[eE]-?\d+)?):(\d+)$/.exec(word) ?? fail(`a rate is RATE:BURST, not ${word}`);
    return { rate: BigInt(Math.round(Number(rate) * 1e6)), burst: BigInt(burst!) };
  });
  return { cir: committed!.rate, cburst: committed!.burst, pir: peak!.rate, pburst: peak!.burst };
}

async function setRates(session: ControlSession, name: string, at: number, rates: MeterRates): Promise<void> {
  const array = await arrayOf(session, 'meter', name);
  await session.client.modify(
    'table' in array
      ? { kind: 'direct-meter', entry: await entryOfTable(session, array.table, at), rates }
      : { kind: 'meter', meter: array.name, index: at, rates },
  );
}

const shown = (value: Data | undefined): string =>
  typeof value === 'bigint' || typeof value === 'string' || typeof value === 'boolean'
    ? `${value}`
    : JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each));

async function registerCells(session: ControlSession, name: string, index?: number): Promise<string[]> {
  const cells: string[] = [];
  for await (const found of session.client.read({
    kind: 'register',
    register: name,
    ...(index !== undefined && { index }),
  })) {
    if (found.kind === 'register') cells.push(shown(found.value));
  }
  return cells;
}

export const STATE_COMMANDS: Readonly<Record<string, Command>> = {
  counter_read: async (session, words) => {
    count(words, 2);
    const [name = ''] = words;
    const at = whole(words[1], 'the index');
    const { packets, bytes } = await readCounter(session, name, at);
    await session.print(`${name}[${at}]= (${bytes} bytes, ${packets} packets)`);
  },
  counter_write: async (session, words) => {
    count(words, 4);
    const [name = ''] = words;
    const at = whole(words[1], 'the index');
    const packets = BigInt(whole(words[2], 'the number of packets'));
    await writeCounter(session, name, at, { packets, bytes: BigInt(whole(words[3], 'the number of bytes')) });
    await session.print(`${name}[${at}] has been updated`);
  },
  counter_reset: async (session, words) => {
    count(words, 1);
    const array = await arrayOf(session, 'counter', words[0]);
    const value = { packets: 0n, bytes: 0n };
    if (!('table' in array)) {
      const { name, size } = array;
      if (size > MOST_SHOWN) fail(`${size} cells are too many to be reset at once`);
      await session.client.modify(
        ...Array.from({ length: size }, (_, index) => ({ kind: 'counter', counter: name, index, value }) as const),
      );
      return;
    }
    const entries = await session.entries(array.table);
    await session.client.modify(...entries.map(({ entry }) => ({ kind: 'direct-counter', entry, value }) as const));
  },
  meter_set_rates: async (session, words) => {
    count(words, 4);
    const [name = '', at, ...rates] = words;
    await setRates(session, name, whole(at, 'the index'), ratesOf(rates));
  },
  meter_array_set_rates: async (session, words) => {
    count(words, 3);
    const [given, ...texts] = words;
    const rates = ratesOf(texts);
    const array = await arrayOf(session, 'meter', given);
    if ('table' in array) fail(`${given} is a direct meter, which has rates by entry`);
    const { name, size } = array;
    if (size > MOST_SHOWN) fail(`${size} meters are too many to be set at once`);
    await session.client.modify(
      ...Array.from({ length: size }, (_, index) => ({ kind: 'meter', meter: name, index, rates }) as const),
    );
  },
  meter_get_rates: async (session, words) => {
    count(words, 2);
    const at = whole(words[1], 'the index');
    const array = await arrayOf(session, 'meter', words[0]);
    const question =
      'table' in array
        ? ({ kind: 'direct-meter', entry: await entryOfTable(session, array.table, at) } as const)
        : ({ kind: 'meter', meter: array.name, index: at } as const);
    for await (const found of session.client.read(question)) {
      if (found.kind !== 'meter' && found.kind !== 'direct-meter') continue;
      if (found.rates === undefined) return session.lines('WARNING: the meter has no rates: every packet is green');
      const { cir, cburst, pir, pburst } = found.rates;
      await session.lines(
        `0: info rate = ${Number(cir) / 1e6}, burst size = ${cburst}`,
        `1: info rate = ${Number(pir) / 1e6}, burst size = ${pburst}`,
      );
    }
  },
  register_read: async (session, words) => {
    count(words, 1, 2);
    const [name = ''] = words;
    const register = (await session.index()).named('register', name);
    const at = words[1] === undefined ? undefined : whole(words[1], 'the index');
    if (at === undefined && register.size > MOST_SHOWN) fail(`${register.size} cells are too many to be shown at once`);
    const cells = await registerCells(session, nameOf(register), at);
    await session.print(at === undefined ? `${name}= ${cells.join(', ')}` : `${name}[${at}]= ${cells.join(', ')}`);
  },
  register_write: async (session, words) => {
    count(words, 3);
    const [name = '', at, value = ''] = words;
    await session.client.modify({ kind: 'register', register: name, index: whole(at, 'the index'), value });
  },
  register_reset: async (session, words) => {
    count(words, 1);
    const register = (await session.index()).named('register', words[0]!);
    if (register.size > MOST_SHOWN) fail(`${register.size} cells are too many to be reset at once`);
    await session.client.modify(
      ...Array.from(
        { length: register.size },
        (_, index) => ({ kind: 'register', register: nameOf(register), index, value: 0 }) as const,
      ),
    );
  },
};
